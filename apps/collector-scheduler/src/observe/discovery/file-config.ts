import { z } from "zod";
import { duration, readableFile } from "./config-fields.ts";
import type { FileBlock } from "./discovery-block.ts";
import type { DiscoveryLimits } from "./discovery-limits.ts";

/** A pattern may only be in the last element of a path. */
const PATH = /^[^*]*(?:\*[^/]*)?\.(?:json|yml|yaml|JSON|YML|YAML)$/;

/** One entry of `file_sd_configs`. */
export function fileConfig(limits: DiscoveryLimits) {
  const file = z
    .string()
    .regex(PATH, "a path ends in .json, .yml or .yaml, and has * in its last element only")
    .pipe(readableFile(limits));
  return z
    .strictObject({ files: z.array(file).min(1), refresh_interval: duration(300_000) })
    .transform(({ files, refresh_interval: refreshInterval }): FileBlock => ({
      mechanism: "file",
      files,
      refreshInterval,
    }));
}
