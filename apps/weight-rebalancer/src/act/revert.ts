import { addFinalizer, hasFinalizer, kubeErrors, removeFinalizer, type Resource } from "@evenkeel/kube";
import { CodedError, type Clock } from "@evenkeel/runtime";
import { REVERT_FINALIZER, type StoredRebalance } from "../rebalance-resource.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { WeightTarget } from "../targets/weight-target.ts";

/** Milliseconds that setting a weight back may take before it is tried anew. */
const DEADLINE = 60_000;

/**
 * Puts the finalizer on an object that asks for its weight to be set back when it goes, and takes it off one that does not. Resolves with
 * false for one that went before it could be put there, which is nobody's fault: no weight may be written for it any more.
 */
export async function keepFinalizer(
  rebalances: Resource<StoredRebalance>,
  object: StoredRebalance,
  onDelete: "keep" | "revert",
  signal: AbortSignal,
): Promise<boolean> {
  const has = hasFinalizer(object, REVERT_FINALIZER);
  if (onDelete === "keep" && has) await removeFinalizer(rebalances, object, REVERT_FINALIZER, { signal });
  if (onDelete === "keep" || has) return true;
  try {
    const added = await addFinalizer(rebalances, object, REVERT_FINALIZER, { signal });
    return added !== undefined && added.metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (error instanceof kubeErrors.NotFound) return false;
    throw error;
  }
}

export interface RevertOptions {
  readonly rebalances: Resource<StoredRebalance>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly held: () => boolean;
}

/**
 * Sets the targets of an object that goes back to what they were before its first change, and lets it go. A target that is not there
 * any more, or cannot take it for good, keeps nobody; one that cannot be reached now does, and is tried again.
 */
export async function revert(
  object: StoredRebalance,
  targets: readonly WeightTarget[],
  { rebalances, clock, signal, held }: RevertOptions,
): Promise<readonly string[]> {
  const initial = new Map((object.status?.initialWeights ?? []).map(({ target, weight }) => [target, weight]));
  const given = await Promise.all(
    targets.map(async (target) => {
      const weight = initial.get(target.name);
      if (weight === undefined) return [];
      try {
        await withTimeLimit(clock, DEADLINE, signal, (limit) => target.write(weight, { signal: limit, held }));
        return [`${target.name} is ${weight} again`];
      } catch (error) {
        if (!(error instanceof CodedError) || error.recovery === "retryable") throw error;
        return [`${target.name} cannot be set back to ${weight}: ${error.message}`];
      }
    }),
  );
  await removeFinalizer(rebalances, object, REVERT_FINALIZER, { signal });
  return given.flat();
}
