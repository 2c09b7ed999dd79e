import { COLLECTOR_LOAD_BALANCER, type CollectorLoadBalancerStatus } from "@evenkeel/api";
import type { StoredObject } from "@evenkeel/kube";
import { resourceTypeOf } from "@evenkeel/operator";

/** A CollectorLoadBalancer as the API server stores it. */
export type StoredCollectorLoadBalancer = StoredObject<CollectorLoadBalancerStatus>;

export const collectorLoadBalancers = resourceTypeOf<StoredCollectorLoadBalancer>(COLLECTOR_LOAD_BALANCER);
