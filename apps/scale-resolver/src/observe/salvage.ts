import { type ElastiService, parseElastiService } from "@evenkeel/api";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { bindingOf } from "./binding-of.ts";

/** The fields that a wake and waiting requests need. Fields that only matter for sleep are not included. */
const FIELDS = [
  "minTargetReplicas",
  "autoscaler",
  "hold",
  "probeResponse",
  "wakePorts",
  "dial",
  "switch",
  "dryRun",
] as const;

/**
 * The valid part of an ElastiService with an invalid spec: its Service and workload, from the spec or the status, and
 * each further field that is valid together with them. Undefined if the Service or the workload is not known.
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
