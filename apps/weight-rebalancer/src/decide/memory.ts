import { rewound } from "./elapsed.ts";
import { loadOf } from "./load.ts";
import type { WeightReason } from "./reason.ts";
import type { Memory, WeightSnapshot } from "./snapshot.ts";
import { changedByOthers, outOfStep, readableTargets } from "./targets.ts";
import type { WeightVerdict } from "./weight-decider.ts";

/** Reasons to hold that mean: the targets have the decided weight. */
const AGREED: ReadonlySet<WeightReason> = new Set(["InStep", "Minimum", "Maximum", "Schedule"]);

/**
 * The memory after a decision. `carriedOut` says whether every target accepted it; for a hold or a dry run it has no effect.
 *
 * A change that failed may have reached some targets, or was accepted and the answer was lost. The last weight is then forgotten, so
 * that the next reading does not look like a change by another client. With several targets it counts as a change for the pace.
 */
export function nextMemory(
  snapshot: WeightSnapshot,
  verdict: Pick<WeightVerdict, "action" | "reason" | "after" | "dryRun">,
  carriedOut: boolean,
): Memory {
  const { memory, rebalance, targets } = snapshot;
  const { action, after } = verdict;
  const now = Date.parse(snapshot.at);
  const agreed = isAgreed(snapshot, verdict);
  const kept: Memory = {
    smoothed: smoothedLoad(snapshot),
    desired: agreed ? after : memory.desired,
    changedAt: rewound(memory.changedAt, now),
    raisedAt: rewound(memory.raisedAt, now),
    yieldedAt: agreed || isInStep(snapshot) ? rebalance.generation : givenWayTo(snapshot, verdict),
  };
  if (action === "hold" || verdict.dryRun === true) return kept;
  const times = { changedAt: now, raisedAt: action === "raise" ? now : kept.raisedAt };
  if (carriedOut) return { ...kept, ...times, desired: after, yieldedAt: rebalance.generation };
  return { ...kept, ...(targets.length > 1 ? times : {}), desired: null, yieldedAt: null };
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

/** Whether a decision to hold found every target at the decided weight. */
function isAgreed(
  { targets }: WeightSnapshot,
  { action, reason, after }: Pick<WeightVerdict, "action" | "reason" | "after">,
): boolean {
  const readable = readableTargets(targets);
  const settled = action === "hold" && AGREED.has(reason) && after !== null && readable.length === targets.length;
  return settled && outOfStep(readable, after).length === 0;
}
