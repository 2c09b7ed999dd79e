import { compare, multiply, type Rational, rational, subtract } from "@evenkeel/scoring";
import { bounded, type Bounds, boundText } from "./bounds.ts";
import { baseLoad, type Load, trackedWeight } from "./load.ts";
import type { NoMetric } from "./metric.ts";
import { paced, settlingText } from "./pace.ts";
import type { WeightReason } from "./reason.ts";
import type { WeightSnapshot } from "./snapshot.ts";
import { type ReadableTarget, within } from "./targets.ts";
import { loadText } from "./wording.ts";

/** The weight that the targets should have, and why. */
export interface Proposal {
  readonly weight: number;
  readonly reason: WeightReason;
  /** Parts of a sentence: what led to the weight. */
  readonly because: readonly string[];
}

/** Where a proposal starts from. */
export interface Footing {
  readonly snapshot: WeightSnapshot;
  readonly bounds: Bounds;
  /** The weight that a change starts from: the one that was last carried out or, where none is known, the one in force. */
  readonly from: number;
  readonly targets: readonly ReadableTarget[];
}

/** Follows the load, unless the base is near enough to its target as it is. */
export function followLoad(footing: Footing, load: Load): Proposal {
  const { snapshot, from } = footing;
  const because = loadText(load, snapshot.policy);
  if (isWithinTolerance(footing, load)) return stay(footing, "WithinTolerance", [`${because} and near enough`]);
  const tracked = trackedWeight(load, snapshot);
  const reason = tracked === from ? "InStep" : "TargetTracking";
  return moveTo(footing, tracked, reason, [because]);
}

/** Waits until the last change is seen by all: until then the base's load does not tell the whole. */
export function awaitSettling(footing: Footing): Proposal {
  return stay(footing, "Settling", [`Nothing new is begun: ${settlingText(footing.snapshot)}`]);
}

/**
 * What the policy asks for without a metric; undefined where that is to leave everything as it is. To hold is to lower nothing: what
 * was asked for whatever the metric is, a minimum or an open window, still raises.
 */
export function withoutMetric(footing: Footing, { fault, message }: NoMetric): Proposal | undefined {
  const { snapshot, bounds, targets, from } = footing;
  const { onNoData, minimum, noDataValue } = snapshot.policy;
  const asked = onNoData === "minimum" ? minimum : onNoData === "value" ? noDataValue : null;
  if (asked !== null) {
    const proposal = moveTo(footing, asked, fault, [message, `without a metric weight ${asked} is asked for`]);
    return proposal.weight === from ? { ...proposal, reason: fault } : proposal;
  }
  if (targets.every((target) => target.weight >= within(target, bounds.floor))) return undefined;
  const weight = Math.max(bounds.floor, ...targets.map((target) => target.weight));
  if (weight > bounds.ceiling) return undefined;
  const bound = bounds.window ? "Schedule" : "Minimum";
  return { weight, reason: bound, because: [message, boundText(bound, bounds)] };
}

/** Keeps the weight, except that one outside its bounds is brought back at once. */
function stay({ from, bounds }: Footing, reason: WeightReason, because: readonly string[]): Proposal {
  const { weight, bound } = bounded(from, bounds);
  return bound
    ? { weight, reason: bound, because: [...because, boundText(bound, bounds)] }
    : { weight, reason, because };
}

/** Goes to a weight within the bounds, as fast as the policy lets it. */
function moveTo(footing: Footing, wish: number, reason: WeightReason, because: readonly string[]): Proposal {
  const { snapshot, from, bounds } = footing;
  const start = bounded(from, bounds);
  const goal = bounded(wish, bounds);
  const asked = goal.bound
    ? [...because, `weight ${wish} is asked for, but ${boundText(goal.bound, bounds)}`]
    : because;
  const { weight, limit } = paced(start.weight, goal.weight, snapshot);
  if (limit === null) return { weight, reason: goal.bound ?? reason, because: asked };
  if (weight === start.weight && start.bound) return stay(footing, start.bound, because);
  return { weight, reason: limit.reason, because: [...asked, `weight ${goal.weight} has to wait, since ${limit.why}`] };
}

/** Whether the base bears about as much as it should with the weight that it has. */
function isWithinTolerance({ snapshot, from, targets }: Footing, load: Load): boolean {
  const { baseValue, targetValue, tolerance } = snapshot.policy;
  const [first] = targets;
  const borne = baseLoad(load, baseValue, first ? within(first, from) : from);
  const allowed = multiply(rational(targetValue), rational(tolerance));
  return tolerance > 0 && compare(size(subtract(borne, rational(targetValue))), allowed) <= 0;
}

function size({ numerator, denominator }: Rational): Rational {
  return { numerator: numerator < 0n ? -numerator : numerator, denominator };
}
