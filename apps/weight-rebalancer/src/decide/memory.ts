import { rewound } from "./elapsed.ts";
import { loadOf } from "./load.ts";
import type { WeightReason } from "./reason.ts";
import type { Memory, WeightSnapshot } from "./snapshot.ts";
import { changedByOthers, outOfStep, readableTargets } from "./targets.ts";
import type { WeightVerdict } from "./weight-decider.ts";

/** The reasons to hold that say: the targets have the weight that was decided. */
const AGREED: ReadonlySet<WeightReason> = new Set(["InStep", "Minimum", "Maximum", "Schedule"]);

/**
 * What to remember after a decision. `carriedOut` says whether every target took it; of a hold or a dry run it does not matter.
 *
 * A change that failed may have reached some targets, or have been accepted without an answer. The last weight is then forgotten
 * rather than guessed: what the targets show next must not look like somebody else's doing.
 */
export function nextMemory(
  snapshot: WeightSnapshot,
  verdict: Pick<WeightVerdict, "action" | "reason" | "after" | "dryRun">,
  carriedOut: boolean,
): Memory {
  const { memory } = snapshot;
  const now = Date.parse(snapshot.at);
  const kept: Memory = {
    smoothed: smoothedLoad(snapshot),
    desired: memory.desired,
    changedAt: rewound(memory.changedAt, now),
    raisedAt: rewound(memory.raisedAt, now),
    yieldedAt: yieldedAt(snapshot, verdict),
  };
  if (verdict.action === "hold") return isAgreed(snapshot, verdict) ? { ...kept, desired: verdict.after } : kept;
  if (verdict.dryRun === true) return kept;
  if (!carriedOut) return { ...kept, desired: null };
  return {
    ...kept,
    desired: verdict.after,
    changedAt: now,
    raisedAt: verdict.action === "raise" ? now : kept.raisedAt,
    yieldedAt: null,
  };
}

function smoothedLoad(snapshot: WeightSnapshot): Memory["smoothed"] {
  if (snapshot.policy.smoothing === 0) return null;
  const load = readableTargets(snapshot.targets).length === 0 ? undefined : loadOf(snapshot);
  return load && "total" in load ? load.smoothed : snapshot.memory.smoothed;
}

function yieldedAt(
  { memory, rebalance, targets }: WeightSnapshot,
  { action, reason }: Pick<WeightVerdict, "action" | "reason">,
): number | null {
  if (action === "hold" && reason === "ExternalChange") return rebalance.generation;
  const readable = readableTargets(targets);
  const back = readable.length > 0 && changedByOthers(readable, memory).length === 0;
  return back ? null : memory.yieldedAt;
}

function isAgreed({ targets }: WeightSnapshot, { reason, after }: Pick<WeightVerdict, "reason" | "after">): boolean {
  return AGREED.has(reason) && after !== null && outOfStep(readableTargets(targets), after).length === 0;
}
