/** Labels of EndpointSlices. https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/ */
export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";

/**
 * The manager of the slices that redirect a Service to the resolver. It must never change, or old slices would remain.
 */
export const MANAGER = "scale-resolver.evenkeel.io";
