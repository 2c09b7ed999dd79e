export { originalWeight, type OriginalInput } from "./backtest/original-rule.ts";
export {
  measured,
  NOON,
  record,
  SEED_POLICY,
  type SeedChanges,
  seedSnapshot,
  unmeasured,
} from "./testing/seed-snapshot.ts";
