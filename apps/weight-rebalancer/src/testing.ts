export { originalWeight, type OriginalInput } from "./testing/original-rule.ts";
export {
  measured,
  NOON,
  record,
  SEED_POLICY,
  type SeedChanges,
  seedSnapshot,
  unmeasured,
} from "./testing/seed-snapshot.ts";
