import { add, divide, multiply, type Rational, rational, smooth, type Smoothed, trackTarget } from "@evenkeel/scoring";
import { elapsedSince } from "./elapsed.ts";
import { combineMetrics, type NoMetric } from "./metric.ts";
import type { WeightSnapshot } from "./snapshot.ts";
import { type ReadableTarget, readableTargets } from "./targets.ts";

/** The load of all environments together, in the unit of the metric. */
export interface Load {
  /** The measured value. */
  readonly metric: Rational;
  /** The load that the weight follows: that of all environments, smoothed if the policy says so. */
  readonly total: Rational;
  /** Null where the policy does not smooth. */
  readonly smoothed: Smoothed | null;
}

/**
 * Why the load is unknown. `Settling`: a change has not reached all clients, so the total cannot be computed from the
 * base.
 */
export type UnknownLoad = NoMetric | { readonly fault: "Settling" };

/**
 * The load of all environments. A metric of the base environment alone is scaled up by the weights in force. That is
 * right only after every client has received them; until then the load is unknown and the moving average does not
 * change.
 */
export function loadOf(snapshot: WeightSnapshot): Load | UnknownLoad {
  const { policy, memory, targets, combine, metrics } = snapshot;
  const combined = combineMetrics(metrics, combine);
  if (combined.fault !== null) return combined;
  const metric = combined.value;
  if (policy.scope === "base" && isSettling(snapshot)) return { fault: "Settling" };
  const [first] = readableTargets(targets);
  const total = policy.scope === "base" ? wholeLoad(metric, policy.baseValue, first) : metric;
  if (policy.smoothing === 0) return { metric, total, smoothed: null };
  const at = Date.parse(snapshot.at);
  const smoothed = smooth(memory.smoothed ?? undefined, nearest(total), at, policy.smoothing) ?? null;
  return { metric, total: smoothed ? rational(smoothed.value) : total, smoothed };
}

/** Milliseconds until a change has reached all clients. */
export function settlingTime({ policy, targets }: WeightSnapshot): number {
  const longest = Math.max(0, ...targets.map(({ timeToLive }) => timeToLive ?? 0));
  return policy.settle ?? (policy.scope === "base" ? longest : 0);
}

/** Whether the last change may not have reached all clients yet. */
export function isSettling(snapshot: WeightSnapshot): boolean {
  const { at, memory, policy, targets } = snapshot;
  const pending = policy.scope === "base" && readableTargets(targets).some((target) => target.pending);
  return pending || elapsedSince(memory.changedAt, Date.parse(at)) < settlingTime(snapshot);
}

/**
 * The lowest weight at which the load of the base environment is at most the target value. Bounds are applied later.
 */
export function trackedWeight({ total }: Load, { policy: { baseValue, targetValue } }: WeightSnapshot): number {
  // Scaling both by the denominator keeps the fraction exact.
  const tracked = {
    base: baseValue,
    metric: String(total.numerator),
    target: String(BigInt(targetValue) * total.denominator),
  };
  return trackTarget(tracked, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }).weight;
}

/** The load of the base environment when the target has `weight`. */
export function baseLoad({ total }: Load, baseValue: number, weight: number): Rational {
  if (baseValue + weight === 0) return total;
  return divide(multiply(total, rational(baseValue)), rational(baseValue + weight));
}

function wholeLoad(metric: Rational, baseValue: number, target: ReadableTarget | undefined): Rational {
  if (baseValue === 0) return metric;
  const sum = add(rational(baseValue), rational(target?.weight ?? 0));
  return divide(multiply(metric, sum), rational(baseValue));
}

/** The nearest double that is finite. */
export function nearest({ numerator, denominator }: Rational): number {
  const quotient = Number(numerator) / Number(denominator);
  // Adding 0 turns a negative zero, which JSON cannot express, into 0.
  if (Number.isFinite(quotient)) return quotient + 0;
  // One side alone is too great for a double. The fraction that the integer division drops is below its last digit.
  const whole = Number(numerator / denominator);
  return Math.min(Math.max(whole, -Number.MAX_VALUE), Number.MAX_VALUE);
}
