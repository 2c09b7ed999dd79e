export { metricQueries, type PrometheusSpec, queryRights, rangeOf } from "./object.ts";
export { type AskRange, readHistory, type Span, timesOf } from "./history.ts";
export { type PastStep, replay, type Replay, type ReplayInput, type ReplayPoint } from "./replay.ts";
export type { Totals } from "./tally.ts";
export { advice } from "../observe/prometheus/advice.ts";
export { policySnapshot } from "../observe/policy.ts";
export { intervalOf } from "../timing.ts";
export { rebalances } from "../rebalance-resource.ts";
