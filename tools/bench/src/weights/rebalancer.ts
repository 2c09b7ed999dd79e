/** What is measured: the app's own decision, for which no library stands in. */
export {
  type Memory,
  nextMemory,
  NO_MEMORY,
  type PolicySnapshot,
  weightDecider,
} from "@evenkeel/weight-rebalancer/decide";
export {
  measured,
  originalWeight,
  record,
  SEED_POLICY,
  seedSnapshot,
  unmeasured,
} from "@evenkeel/weight-rebalancer/testing";
