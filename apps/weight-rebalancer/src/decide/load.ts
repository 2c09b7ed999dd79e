import { add, divide, multiply, type Rational, rational, smooth, type Smoothed, trackTarget } from "@evenkeel/scoring";
import { elapsedSince } from "./elapsed.ts";
import { combineMetrics, type NoMetric } from "./metric.ts";
import type { WeightSnapshot } from "./snapshot.ts";
import { type ReadableTarget, readableTargets } from "./targets.ts";

/** What is known of the load of all environments together, in the metric's unit. */
export interface Load {
  /** What was measured. */
  readonly metric: Rational;
  /** What the weight follows: the whole load, smoothed if the policy says so. */
  readonly total: Rational;
  /** Null where the policy does not smooth. */
  readonly smoothed: Smoothed | null;
}

/** Why the load is not known. `Settling`: a change is not seen everywhere, so the base's part does not tell the whole. */
export type UnknownLoad = NoMetric | { readonly fault: "Settling" };

/**
 * The load of all environments. A metric that sees the base environment alone is scaled up by the weights in force, which holds once
 * every client has come to see them; until then it says nothing, and the moving average stays as it is.
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

/** Milliseconds that a change takes to be seen by all clients. */
export function settlingTime({ policy, targets }: WeightSnapshot): number {
  const longest = Math.max(0, ...targets.map(({ timeToLive }) => timeToLive ?? 0));
  return policy.settle ?? (policy.scope === "base" ? longest : 0);
}

/** Whether the last change may not be seen by all clients yet. */
export function isSettling(snapshot: WeightSnapshot): boolean {
  const { at, memory, policy, targets } = snapshot;
  const pending = policy.scope === "base" && readableTargets(targets).some((target) => target.pending);
  return pending || elapsedSince(memory.changedAt, Date.parse(at)) < settlingTime(snapshot);
}

/** The least weight at which the base environment bears no more than the target value, whatever the bounds are. */
export function trackedWeight({ total }: Load, { policy: { baseValue, targetValue } }: WeightSnapshot): number {
  // Scaling both by the denominator keeps the fraction exact.
  const tracked = {
    base: baseValue,
    metric: String(total.numerator),
    target: String(BigInt(targetValue) * total.denominator),
  };
  return trackTarget(tracked, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }).weight;
}

/** What the base environment bears when the other has `weight`. */
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
  // The sum with 0 makes a negative zero, which JSON does not know, a plain one.
  if (Number.isFinite(quotient)) return quotient + 0;
  // Either side alone was too great for a double: what the whole part leaves out is beyond its last digit.
  const whole = Number(numerator / denominator);
  return Math.min(Math.max(whole, -Number.MAX_VALUE), Number.MAX_VALUE);
}
