export { collectorScheduler } from "./definition.ts";
export { collectorLoadBalancers, type StoredCollectorLoadBalancer } from "./collector-load-balancer-resource.ts";
