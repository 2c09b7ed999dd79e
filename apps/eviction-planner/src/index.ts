export { evictionPlanner } from "./definition.ts";
export { rebalancePolicies, type StoredPolicy } from "./policy-resource.ts";
