export { apportion, type Apportionment, type Placement, type Share } from "./apportion.ts";
export { type Allowance, allowance, type Budget, spend } from "./budget.ts";
export { BadNumber, DuplicateName, MinimumsExceedTotal, ScoringError, WrongOrder } from "./errors.ts";
export { type Hash, hashBytes, hashText } from "./hash.ts";
export {
  type Band,
  type BandReason,
  type BandState,
  bandWithMargin,
  type Classification,
  classify,
  type Edge,
  type Level,
  type Pending,
  startWithin,
} from "./hysteresis.ts";
export {
  add,
  ceil,
  compare,
  type Decimal,
  decimalSum,
  divide,
  floor,
  multiply,
  type Rational,
  rational,
  subtract,
  sum,
} from "./rational.ts";
export { rendezvous, type Rendezvous, type RendezvousNode } from "./rendezvous.ts";
export { type Holdings, sigmaBound } from "./sigma-bound.ts";
export { smooth, type Smoothed } from "./smoothing.ts";
export { Spread } from "./spread.ts";
export { type StickyBalance, stickyBalance, type StickyOptions } from "./sticky-balance.ts";
export type { Holder, Items } from "./sticky-columns.ts";
export { type TrackedTarget, type TrackedWeight, trackTarget, type WeightRange } from "./target-tracking.ts";
