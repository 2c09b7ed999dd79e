/** Labels by which EndpointSlices say whose they are. https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/ */
export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";

/** The manager of the slices that put the resolver into a Service's path. It must never change, or old slices stay behind. */
export const MANAGER = "scale-resolver.evenkeel.io";
