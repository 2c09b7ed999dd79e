import type { JobFault } from "@evenkeel/relabel";
import { z } from "zod";
import { plainFields } from "../../config/written-scalar.ts";
import { dnsConfig } from "./dns-config.ts";
import type { DiscoveryBlock } from "./discovery-block.ts";
import type { DiscoveryLimits } from "./discovery-limits.ts";
import { fileConfig } from "./file-config.ts";
import { httpConfig } from "./http-config.ts";
import { kubernetesConfig } from "./kubernetes-config.ts";
import { staticConfigs } from "./static-discovery.ts";

/** The discovery of one job: its blocks, or what is wrong with them. */
export type ParsedDiscovery =
  | { readonly blocks: readonly DiscoveryBlock[]; readonly faults?: undefined }
  | { readonly blocks?: undefined; readonly faults: readonly JobFault[] };

/** Reads the discovery fields of a scrape configuration: `static_configs` and every `*_sd_configs`. */
export function parseDiscovery(config: Readonly<Record<string, unknown>>, limits: DiscoveryLimits): ParsedDiscovery {
  const mechanisms: Readonly<Record<string, z.ZodType<readonly DiscoveryBlock[]>>> = {
    static_configs: staticConfigs,
    kubernetes_sd_configs: z.array(kubernetesConfig(limits)),
    file_sd_configs: z.array(fileConfig(limits)),
    http_sd_configs: z.array(httpConfig(limits)),
    dns_sd_configs: z.array(dnsConfig),
  };
  const blocks: DiscoveryBlock[] = [];
  const faults: JobFault[] = [];
  for (const [field, value] of Object.entries(config).filter(([name]) => isDiscovery(name))) {
    const schema = mechanisms[field];
    if (schema === undefined) faults.push({ field, message: "this discovery mechanism is not supported" });
    else if (value !== null && value !== undefined) {
      // Only labels are texts that may look like numbers.
      const parsed = schema.safeParse(field === "static_configs" ? value : plainFields(value));
      if (parsed.success) blocks.push(...parsed.data);
      else faults.push(...parsed.error.issues.flatMap((issue) => faultsOf(field, issue)));
    }
  }
  return faults.length > 0 ? { faults } : { blocks };
}

/** Whether a field of a scrape configuration is about discovery. */
export function isDiscovery(field: string): boolean {
  return field === "static_configs" || field.endsWith("_sd_configs");
}

function faultsOf(field: string, issue: z.core.$ZodIssue): readonly JobFault[] {
  const at = fieldAt(field, issue.path);
  if (issue.code !== "unrecognized_keys") return [{ field: at, message: issue.message }];
  return issue.keys.map((key) => ({ field: `${at}.${key}`, message: "this field is not supported" }));
}

/** `kubernetes_sd_configs[0].selectors[1].label`. */
function fieldAt(field: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : `${text}.${String(part)}`),
    field,
  );
}
