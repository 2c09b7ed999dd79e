import { createHash } from "node:crypto";
import { LONGEST_LABEL } from "../bounded-name.ts";

/**
 * The EndpointSlice by which KubeElasti puts its resolver into a Service's path. It has no label that says whose it is. It may have 253 letters, so that no Service's
 * name is too long for it.
 */
export function originalSliceName(service: string): string {
  return `elasti-${service}-endpointslice-to-resolver-${hash(service)}`;
}

/**
 * The copy of a Service through which KubeElasti's resolver reaches the pods. It is a Service too: of a long name there is as much in it as leaves room for the rest,
 * without hyphens at its end, and the hash is of the whole.
 */
export function originalPrivateServiceName(service: string): string {
  const part = service.length <= LONGEST_PART ? service : service.slice(0, LONGEST_PART).replace(/-+$/, "");
  return `elasti-${part}-pvt-${hash(service)}`;
}

/** Of the 63 letters of a Service's name, those that `elasti-`, `-pvt-` and ten of a hash leave. */
const LONGEST_PART = LONGEST_LABEL - 22;

const PRIVATE = /^elasti-(.+)-pvt-[\da-f]{10}$/;

/** Whether a Service is such a copy, of whatever Service. Of one whose name was cut that cannot be told: only who knows the whole name knows its copy. */
export function isOriginalPrivateService(name: string): boolean {
  const of = PRIVATE.exec(name)?.[1];
  return of !== undefined && originalPrivateServiceName(of) === name;
}

function hash(service: string): string {
  return createHash("sha256").update(service).digest("hex").slice(0, 10);
}
