import { WrongOrder } from "./errors.ts";
import { badNumber, checkCount } from "./checks.ts";
import { ceil, compare, type Decimal, divide, multiply, rational, subtract } from "./rational.ts";

export interface TrackedTarget {
  /** The weight of the record beside the tracked one; at least 0. */
  readonly base: Decimal;
  /** What was measured, over all records. It may be negative, which asks for no weight. */
  readonly metric: Decimal;
  /** What the base record alone is to bear; above 0, in the metric's unit. */
  readonly target: Decimal;
}

/**
 * What the target accepts: whole numbers, both ends included. Route 53 takes 0 to 255, a Gateway API backend 0 to
 * 1,000,000.
 */
export interface WeightRange {
  readonly minimum: number;
  readonly maximum: number;
}

export interface TrackedWeight {
  readonly weight: number;
  /** The end of the range that overruled the formula. */
  readonly bound: "none" | "minimum" | "maximum";
}

/**
 * The weight at which the base record's share, base / (base + weight), is target / metric:
 * `⌈base · max(0, metric / target − 1)⌉` computed exactly, then held within `range`. 3000 against 1000 with base 8
 * is 16.
 *
 * A metric that is unknown has no weight: the caller keeps the one it has. NaN and the infinities are refused, since a
 * lost metric that reads as a number would drain the target.
 */
export function trackTarget({ base, metric, target }: TrackedTarget, range: WeightRange): TrackedWeight {
  checkCount(range.minimum, "the least weight");
  checkCount(range.maximum, "the greatest weight");
  if (range.minimum > range.maximum) {
    throw new WrongOrder({
      lower: `the least weight ${range.minimum}`,
      upper: `the greatest weight ${range.maximum}`,
    });
  }
  const exactBase = rational(base, "the base");
  const exactTarget = rational(target, "the target");
  if (exactBase.numerator < 0n) throw badNumber(base, "the base", "a number of at least 0");
  if (exactTarget.numerator <= 0n) throw badNumber(target, "the target", "a number above 0");

  const excess = subtract(rational(metric, "the metric"), exactTarget);
  const wanted = compare(excess, rational(0n)) > 0 ? ceil(divide(multiply(exactBase, excess), exactTarget)) : 0n;
  if (wanted < BigInt(range.minimum)) return { weight: range.minimum, bound: "minimum" };
  if (wanted > BigInt(range.maximum)) return { weight: range.maximum, bound: "maximum" };
  return { weight: Number(wanted), bound: "none" };
}
