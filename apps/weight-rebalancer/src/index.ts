export { weightDecider } from "./decide/weight-decider.ts";
export { weightRebalancer } from "./definition.ts";
export { rebalances, type StoredRebalance } from "./rebalance-resource.ts";
