import { z } from "zod";
import { duration } from "./config-fields.ts";
import type { DnsBlock } from "./discovery-block.ts";

const TYPES = ["A", "AAAA", "SRV", "MX", "NS"] as const;

/** One entry of `dns_sd_configs`. */
export const dnsConfig = z
  .strictObject({
    names: z.array(z.string().min(1)).min(1),
    type: z
      .string()
      .default("SRV")
      .transform((type) => type.toUpperCase())
      .pipe(z.enum(TYPES)),
    port: z.int().min(0).max(65_535).default(0),
    refresh_interval: duration(30_000),
  })
  .refine(({ type, port }) => type === "SRV" || port !== 0, {
    path: ["port"],
    message: "a port is required for every type but SRV",
  })
  .transform(({ names, type, port, refresh_interval: refreshInterval }): DnsBlock => ({
    mechanism: "dns",
    names,
    type,
    port,
    refreshInterval,
  }));
