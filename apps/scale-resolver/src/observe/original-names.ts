import { createHash } from "node:crypto";

/** The EndpointSlice by which KubeElasti puts its resolver into a Service's path. It has no label that says whose it is. */
export function originalSliceName(service: string): string {
  return `elasti-${service}-endpointslice-to-resolver-${hash(service)}`;
}

/** The copy of a Service through which KubeElasti's resolver reaches the pods. */
export function originalPrivateServiceName(service: string): string {
  return `elasti-${service}-pvt-${hash(service)}`;
}

const PRIVATE = /^elasti-(.+)-pvt-[\da-f]{10}$/;

/** Whether a Service is such a copy, of whatever Service. */
export function isOriginalPrivateService(name: string): boolean {
  const of = PRIVATE.exec(name)?.[1];
  return of !== undefined && originalPrivateServiceName(of) === name;
}

function hash(service: string): string {
  return createHash("sha256").update(service).digest("hex").slice(0, 10);
}
