export { nextMemory } from "./memory.ts";
export { shareOf } from "./share.ts";
export {
  type Memory,
  type MetricReading,
  NO_MEMORY,
  type PolicySnapshot,
  type TargetReading,
  type WeightSnapshot,
} from "./snapshot.ts";
export { type WeightAction, weightDecider, type WeightReason, type WeightVerdict } from "./weight-decider.ts";
