import { type ElastiService, parseElastiService } from "@evenkeel/api";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { bindingOf } from "./binding-of.ts";

/** What a wake and a request that waits make use of. Nothing that only puts to sleep is among it. */
const FIELDS = ["minTargetReplicas", "autoscaler", "hold", "probeResponse", "dial", "switch", "dryRun"] as const;

/**
 * What can be read of an ElastiService whose spec cannot be understood as a whole: its Service and workload, as it names them or as its status
 * has them, and each further field that makes sense beside them. Undefined if not even these two are known.
 */
export function salvage({ apiVersion, kind, metadata, spec, status }: StoredElastiService): ElastiService | undefined {
  const fields = (typeof spec === "object" && spec !== null ? spec : {}) as Readonly<Record<string, unknown>>;
  const read = (parts: Readonly<Record<string, unknown>>): ElastiService | undefined => {
    const parsed = parseElastiService({ apiVersion, kind, metadata, spec: parts });
    return parsed.ok && bindingOf(parsed.value) ? parsed.value : undefined;
  };
  const { service, scaleTargetRef } = fields;
  const bases = [
    { service, scaleTargetRef },
    { service: status?.service, scaleTargetRef: status?.scaleTargetRef },
    { service: status?.service, scaleTargetRef },
  ];
  const base = bases.find((one) => read(one) !== undefined);
  if (!base) return undefined;
  let kept: Readonly<Record<string, unknown>> = base;
  for (const field of FIELDS) {
    if (fields[field] === undefined) continue;
    const more: Readonly<Record<string, unknown>> = { ...kept, [field]: fields[field] };
    if (read(more)) kept = more;
  }
  return read(kept);
}
