export type { Outcome, Plan, PlannedMove, PodName, RightSizing, Stay } from "./answer.ts";
export { type Comparison, compareWith } from "./compare.ts";
export { holdSentence } from "./explain.ts";
export { explainPod, type PodExplanation } from "./explain-pod.ts";
export { type Hold, type Obstacle, OBSTACLE_CODES, OBSTACLES } from "./obstacles.ts";
export { plan } from "./plan.ts";
export type { PolicyFault } from "./policy-faults.ts";
export { type Price, pricesOf } from "./price.ts";
export { type ClusterSnapshot, NONE, type PlanMemory, type PlanSnapshot, POD, UNKNOWN } from "./snapshot.ts";
