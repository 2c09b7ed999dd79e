import { rewound } from "./elapsed.ts";
import { loadOf } from "./load.ts";
import type { WeightReason } from "./reason.ts";
import type { Memory, TargetReading, WeightSnapshot } from "./snapshot.ts";
import { changedByOthers, outOfStep, readableTargets, within } from "./targets.ts";
import type { WeightVerdict } from "./weight-decider.ts";

/** Reasons to hold that mean: the targets have the decided weight. */
const AGREED: ReadonlySet<WeightReason> = new Set(["InStep", "Minimum", "Maximum", "Schedule"]);

/**
 * The memory after a decision. `failed` names the targets that did not accept it; for a hold or a dry run it has no
 * effect.
 *
 * A write that failed may have been accepted and its answer lost, so the next reading of that target does not count as
 * a change by another client. If no target accepted the weight, the last weight is unknown. A target that fails does
 * not hold up the others: only a write that a target accepted counts for the pace.
 */
export function nextMemory(
  snapshot: WeightSnapshot,
  verdict: Pick<WeightVerdict, "action" | "reason" | "after" | "dryRun">,
  failed: readonly string[],
): Memory {
  const { memory, rebalance, targets } = snapshot;
  const { action, after } = verdict;
  const now = Date.parse(snapshot.at);
  const agreed = isAgreed(snapshot, verdict);
  const kept: Memory = {
    smoothed: smoothedLoad(snapshot),
    desired: agreed ? after : (memory.desired ?? acceptedWeight(snapshot, verdict)),
    changedAt: rewound(memory.changedAt, now),
    raisedAt: rewound(memory.raisedAt, now),
    yieldedAt: agreed || isInStep(snapshot) ? rebalance.generation : givenWayTo(snapshot, verdict),
    unwritten: stillUnwritten(snapshot),
  };
  if (action === "hold" || verdict.dryRun === true || after === null) return kept;
  const accepting = readableTargets(targets).filter(({ target }) => !failed.includes(target));
  if (accepting.length === 0) return { ...kept, desired: null, yieldedAt: null, unwritten: [] };
  const times = { changedAt: now, raisedAt: action === "raise" ? now : kept.raisedAt };
  return {
    ...kept,
    ...(outOfStep(accepting, after).length > 0 ? times : {}),
    desired: after,
    yieldedAt: rebalance.generation,
    unwritten: failed,
  };
}

/** The targets that still do not have the last weight. */
function stillUnwritten({ memory: { desired, unwritten }, targets }: WeightSnapshot): readonly string[] {
  if (desired === null) return [];
  const differs = ({ weight, ...target }: TargetReading) => weight === null || weight !== within(target, desired);
  return unwritten.filter((name) => targets.some((target) => target.target === name && differs(target)));
}

function smoothedLoad(snapshot: WeightSnapshot): Memory["smoothed"] {
  if (snapshot.policy.smoothing === 0) return null;
  const load = readableTargets(snapshot.targets).length === 0 ? undefined : loadOf(snapshot);
  return load && "total" in load ? load.smoothed : snapshot.memory.smoothed;
}

/** The generation at which a change by another client was first accepted. */
function givenWayTo(
  { memory, rebalance }: WeightSnapshot,
  { action, reason }: Pick<WeightVerdict, "action" | "reason">,
) {
  return memory.yieldedAt ?? (action === "hold" && reason === "ExternalChange" ? rebalance.generation : null);
}

/** Whether every target has the weight that was last written. A target with a pending change counts as having it. */
function isInStep({ memory, targets }: WeightSnapshot): boolean {
  const readable = readableTargets(targets);
  return (
    memory.desired !== null && readable.length === targets.length && changedByOthers(readable, memory).length === 0
  );
}

/** The weight of targets that are near enough: from then on a change by another client is recognised. */
function acceptedWeight(
  { targets }: WeightSnapshot,
  { action, reason, after }: Pick<WeightVerdict, "action" | "reason" | "after">,
): number | null {
  const readable = readableTargets(targets);
  const near =
    action === "hold" && reason === "WithinTolerance" && after !== null && readable.length === targets.length;
  return near && outOfStep(readable, after).length === 0 ? after : null;
}

/** Whether a decision to hold found every target at the decided weight. */
function isAgreed(
  { targets }: WeightSnapshot,
  { action, reason, after }: Pick<WeightVerdict, "action" | "reason" | "after">,
): boolean {
  const readable = readableTargets(targets);
  const settled = action === "hold" && AGREED.has(reason) && after !== null && readable.length === targets.length;
  return settled && outOfStep(readable, after).length === 0;
}
