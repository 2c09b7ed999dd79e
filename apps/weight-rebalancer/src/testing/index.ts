export { originalWeight } from "../backtest/original-rule.ts";
export { measured, NOON, record, SEED_POLICY, seedSnapshot, unmeasured } from "./seed-snapshot.ts";
