export {
  type Assignments,
  type Exception,
  type Fallback,
  type Member,
  type Memory,
  NO_ASSIGNMENTS,
  type Poll,
  type Pool,
} from "./assignments.ts";
export { fleetDecider, type FleetReason, type FleetVerdict, verdictOf } from "./fleet-decider.ts";
export { Owners, type Placed } from "./owners.ts";
export { assignmentsAfter } from "./assignments-after.ts";
export { type FleetPlan, type Move, MOVE_REASONS, planOf } from "./plan.ts";
export { replicasOf, type ScaleFault } from "./replicas.ts";
export type { Collector, FleetSettings, FleetSnapshot, ScaleSettings, StopReason } from "./snapshot.ts";
export { type Observed, snapshotOf, type Weighed } from "./snapshot-of.ts";
