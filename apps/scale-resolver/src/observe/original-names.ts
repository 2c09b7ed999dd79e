import { createHash } from "node:crypto";
import { LONGEST_LABEL } from "../bounded-name.ts";

/**
 * The EndpointSlice by which KubeElasti redirects a Service to its resolver. It has no managed-by label. The name may
 * have 253 characters, so it fits for every Service.
 */
export function originalSliceName(service: string): string {
  return `elasti-${service}-endpointslice-to-resolver-${hash(service)}`;
}

/**
 * KubeElasti's copy of a Service, through which its resolver reaches the pods. The name of a copy is limited as that of
 * a Service: it has a prefix of the Service's name without trailing hyphens, and a hash of the whole name.
 */
export function originalPrivateServiceName(service: string): string {
  const part = service.length <= LONGEST_PART ? service : service.slice(0, LONGEST_PART).replace(/-+$/, "");
  return `elasti-${part}-pvt-${hash(service)}`;
}

/** The 63 characters of a Service name, less `elasti-`, `-pvt-` and ten characters of a hash. */
const LONGEST_PART = LONGEST_LABEL - 22;

const PRIVATE = /^elasti-(.+)-pvt-[\da-f]{10}$/;

/** Whether a Service is such a copy. This is not known if its name was truncated. */
export function isOriginalPrivateService(name: string): boolean {
  const of = PRIVATE.exec(name)?.[1];
  return of !== undefined && originalPrivateServiceName(of) === name;
}

function hash(service: string): string {
  return createHash("sha256").update(service).digest("hex").slice(0, 10);
}
