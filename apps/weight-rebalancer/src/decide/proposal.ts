import { compare, multiply, type Rational, rational, subtract } from "@evenkeel/scoring";
import { bounded, type Bounds, boundText } from "./bounds.ts";
import { baseLoad, type Load, trackedWeight } from "./load.ts";
import type { NoMetric } from "./metric.ts";
import { paced, settlingText } from "./pace.ts";
import type { WeightReason } from "./reason.ts";
import type { PolicySnapshot, WeightSnapshot } from "./snapshot.ts";
import { type ReadableTarget, within } from "./targets.ts";
import { figure, loadText, toleranceText } from "./wording.ts";

/** The weight that the targets should have, and why. */
export interface Proposal {
  readonly weight: number;
  readonly reason: WeightReason;
  /** Clauses of the message: what led to the weight. */
  readonly because: readonly string[];
}

/** Where a proposal starts from. */
export interface Footing {
  readonly snapshot: WeightSnapshot;
  readonly bounds: Bounds;
  /** The weight that a change starts from: the last one that was written or, if that is unknown, the one in force. */
  readonly from: number;
  readonly targets: readonly ReadableTarget[];
}

/** Follows the load, unless the load of the base is within the tolerance. */
export function followLoad(footing: Footing, load: Load): Proposal {
  const { snapshot, from } = footing;
  const { policy } = snapshot;
  const because = loadText(load, policy);
  const borne = borneByBase(footing, load);
  if (isWithinTolerance(borne, policy))
    return stay(footing, "WithinTolerance", [because, toleranceText(borne, policy)]);
  const tracked = trackedWeight(load, snapshot);
  const reason = tracked === from ? "InStep" : "TargetTracking";
  return moveTo(footing, tracked, reason, [because]);
}

/**
 * Waits until the last change has reached all clients: until then the total cannot be computed from the load of the
 * base.
 */
export function awaitSettling(footing: Footing): Proposal {
  return stay(footing, "Settling", [`No change starts: ${settlingText(footing.snapshot)}`]);
}

/**
 * The proposal without a metric; undefined if nothing changes. `onNoData: hold` lowers nothing, but a minimum or an
 * open window, which do not depend on the metric, still raise the weight.
 */
export function withoutMetric(footing: Footing, { fault, message }: NoMetric): Proposal | undefined {
  const { snapshot, bounds, targets, from } = footing;
  const { onNoData, minimum, noDataValue } = snapshot.policy;
  const asked = onNoData === "minimum" ? minimum : onNoData === "value" ? noDataValue : null;
  if (asked !== null) {
    const proposal = moveTo(footing, asked, fault, [message, `onNoData sets weight ${asked}`]);
    return proposal.weight === from ? { ...proposal, reason: fault } : proposal;
  }
  if (targets.every((target) => target.weight >= within(target, bounds.floor))) return undefined;
  const weight = Math.max(bounds.floor, ...targets.map((target) => target.weight));
  if (weight > bounds.ceiling) return undefined;
  const bound = bounds.window ? "Schedule" : "Minimum";
  return { weight, reason: bound, because: [message, boundText(bound, bounds)] };
}

/** Keeps the weight. A weight outside its bounds moves to the bound at once. */
function stay({ from, bounds }: Footing, reason: WeightReason, because: readonly string[]): Proposal {
  const { weight, bound } = bounded(from, bounds);
  return bound
    ? { weight, reason: bound, because: [...because, boundText(bound, bounds)] }
    : { weight, reason, because };
}

/** Moves to a weight within the bounds, as fast as the policy allows. */
function moveTo(footing: Footing, wanted: number, reason: WeightReason, because: readonly string[]): Proposal {
  const { snapshot, from, bounds } = footing;
  const start = bounded(from, bounds);
  const goal = bounded(wanted, bounds);
  const { bound } = goal;
  const limits = bound ? [`weight ${figure(rational(wanted))} is wanted, but ${boundText(bound, bounds)}`] : [];
  const asked = [...because, ...limits];
  const { weight, limit } = paced(start.weight, goal.weight, snapshot);
  if (limit === null) return { weight, reason: goal.bound ?? reason, because: asked };
  if (weight === start.weight && start.bound) return stay(footing, start.bound, because);
  return {
    weight,
    reason: limit.reason,
    because: [...asked, `weight ${goal.weight} is delayed, because ${limit.why}`],
  };
}

/** The load of the base with the weight in force. */
function borneByBase({ snapshot, from, targets }: Footing, load: Load): Rational {
  const [first] = targets;
  return baseLoad(load, snapshot.policy.baseValue, first ? within(first, from) : from);
}

/** Whether the load of the base is within the tolerance of its target. */
function isWithinTolerance(borne: Rational, { targetValue, tolerance }: PolicySnapshot): boolean {
  const allowed = multiply(rational(targetValue), rational(tolerance));
  return tolerance > 0 && compare(size(subtract(borne, rational(targetValue))), allowed) <= 0;
}

function size({ numerator, denominator }: Rational): Rational {
  return { numerator: numerator < 0n ? -numerator : numerator, denominator };
}
