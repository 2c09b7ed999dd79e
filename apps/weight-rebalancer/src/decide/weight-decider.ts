import type { Decider, Verdict } from "@evenkeel/runtime";
import { boundsOf } from "./bounds.ts";
import { loadOf } from "./load.ts";
import { awaitSettling, followLoad, type Proposal, withoutMetric } from "./proposal.ts";
import { WEIGHT_REASONS, type WeightReason } from "./reason.ts";
import type { WeightSnapshot } from "./snapshot.ts";
import {
  changedByOthers,
  leftWithoutWeight,
  outOfStep,
  type ReadableTarget,
  readableTargets,
  weightInForce,
  within,
} from "./targets.ts";

export { WEIGHT_REASONS, type WeightReason };

export const WEIGHT_ACTIONS = ["raise", "lower", "hold"] as const;
export type WeightAction = (typeof WEIGHT_ACTIONS)[number];

export type WeightVerdict = Verdict<WeightAction, WeightReason, number | null>;

/** A decision without its object. */
type Answer = Pick<WeightVerdict, "action" | "reason" | "before" | "after" | "message">;

/**
 * The weight that the targets of one Rebalance should have. In this order it considers what blocks any change, the
 * load, the bounds and the pace. Unknown is never a number: without a metric or a readable target the decision is to
 * hold, with the reason.
 */
function decide(snapshot: WeightSnapshot): WeightVerdict {
  const { namespace, name } = snapshot.rebalance;
  const object = { kind: "Rebalance", namespace, name };
  return { object, ...answer(snapshot), dryRun: snapshot.dryRun };
}

function answer(snapshot: WeightSnapshot): Answer {
  const { blocked, memory, rebalance, onExternalChange } = snapshot;
  const targets = readableTargets(snapshot.targets);
  const inForce = weightInForce(targets, memory);
  if (blocked) return hold(inForce, blocked.reason, [`No change: ${blocked.message}`]);
  if (inForce === null) return hold(null, "TargetUnknown", [unreadableText(snapshot)]);

  const [changed] = onExternalChange === "yield" ? changedByOthers(targets, memory) : [];
  const resumed = memory.yieldedAt !== null && memory.yieldedAt !== rebalance.generation;
  if (changed && !resumed) {
    return hold(changed.weight, "ExternalChange", [
      `${changedText(changed, memory.desired)}, which stays until spec changes`,
    ]);
  }

  const from = changed || memory.desired === null ? inForce : memory.desired;
  const footing = { snapshot, bounds: boundsOf(snapshot), from, targets };
  const load = loadOf(snapshot);
  if ("total" in load) return applied(followLoad(footing, load), snapshot, targets, inForce);
  if (load.fault === "Settling") return applied(awaitSettling(footing), snapshot, targets, inForce);
  const proposal = withoutMetric(footing, load);
  return proposal ? applied(proposal, snapshot, targets, inForce) : hold(inForce, load.fault, [load.message]);
}

/**
 * Reasons of a proposal that become InStep when every target already has the weight. Other reasons say why the weight
 * stays.
 */
const DONE: ReadonlySet<WeightReason> = new Set(["TargetTracking", "StepLimit"]);

/** Reasons to keep a weight. A target that has another weight and is set to it gets the reason TargetTracking. */
const KEEPING: ReadonlySet<WeightReason> = new Set([
  "InStep",
  "WithinTolerance",
  "ScaleInDisabled",
  "Cooldown",
  "Settling",
]);

/** Compares a proposal with the weights of the targets: a change of some, or a hold. */
function applied(
  { weight, reason, because }: Proposal,
  { memory }: WeightSnapshot,
  targets: readonly ReadableTarget[],
  inForce: number,
): Answer {
  const { desired, unwritten } = memory;
  const empty = leftWithoutWeight(targets, weight);
  if (empty) {
    const zero = `weight 0 is not written, because every weight that shares the load with ${empty.target} is 0 too`;
    return hold(inForce, "AllZero", [...because, zero]);
  }
  const differing = outOfStep(targets, weight).filter(({ pending }) => !pending || weight !== desired);
  // A target that refused the last weight does not stand for the others.
  const moving = differing.find(({ target }) => !unwritten.includes(target)) ?? differing[0];
  if (!moving) return hold(weight, DONE.has(reason) ? "InStep" : reason, because);

  const isRetry = unwritten.includes(moving.target);
  const before = inForce === desired && !isRetry ? desired : moving.weight;
  const about = {
    action: within(moving, weight) > moving.weight ? "raise" : "lower",
    before,
    after: weight,
  } as const;
  const tracked = KEEPING.has(reason) ? "TargetTracking" : reason;
  const [changed] = changedByOthers(targets, memory);
  if (changed && weight === desired) {
    const message = sentence(changedText(changed, desired), `weight ${before} becomes ${weight}`);
    return { ...about, reason: "ExternalChange", message };
  }
  if (isRetry && weight === desired) {
    const message = sentence(
      ...because,
      `${moving.target} still has ${moving.weight}; weight ${weight} is written again`,
    );
    return { ...about, reason: tracked, message };
  }
  const others = changed ? [changedText(changed, desired)] : [];
  return { ...about, reason: tracked, message: sentence(...others, ...because, `weight ${before} becomes ${weight}`) };
}

function hold(weight: number | null, reason: WeightReason, because: readonly string[]): Answer {
  const stays = weight === null ? "the weight stays as it is" : `the weight stays ${weight}`;
  return { action: "hold", reason, before: weight, after: weight, message: sentence(...because, stays) };
}

function changedText({ target, weight }: ReadableTarget, desired: number | null): string {
  return `Another client set ${target} to ${weight}${desired === null ? "" : ` instead of ${desired}`}`;
}

function unreadableText({ targets }: WeightSnapshot): string {
  const [first] = targets;
  return first ? `${first.target} cannot be read: ${first.message ?? "no reason was given"}` : "The spec has no target";
}

function sentence(...clauses: readonly string[]): string {
  return clauses.join("; ");
}

export const weightDecider: Decider<WeightSnapshot, WeightAction, WeightReason, number | null> = {
  actions: WEIGHT_ACTIONS,
  reasons: WEIGHT_REASONS,
  decide,
};
