import { type LastLook, removeFinalizer, type Resource } from "@evenkeel/kube";
import { CodedError, type Clock } from "@evenkeel/runtime";
import { REVERT_FINALIZER, type StoredRebalance } from "../rebalance-resource.ts";
import { withTimeLimit } from "../time-limit.ts";
import { WRITE_LIMIT } from "../timing.ts";
import type { WeightTarget } from "../targets/weight-target.ts";

export interface RevertOptions {
  readonly rebalances: Resource<StoredRebalance>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly lastLook: LastLook;
}

/**
 * Reverts the targets of a deleted object to the weights before its first change, and removes the finalizer. A terminal fault of a target,
 * such as a record that no longer exists, does not keep the object; after a retryable one the whole is retried.
 */
export async function revert(
  object: StoredRebalance,
  targets: readonly WeightTarget[],
  { rebalances, clock, signal, lastLook }: RevertOptions,
): Promise<readonly string[]> {
  const initial = new Map((object.status?.initialWeights ?? []).map(({ target, weight }) => [target, weight]));
  const given = await Promise.all(
    targets.map(async (target) => {
      const weight = initial.get(target.name);
      if (weight === undefined) return [];
      try {
        const write = (limited: AbortSignal) => target.write(weight, { signal: limited, lastLook });
        await withTimeLimit(clock, WRITE_LIMIT, signal, write);
        return [`${target.name} was reverted to ${weight}`];
      } catch (error) {
        if (!(error instanceof CodedError) || error.recovery === "retryable") throw error;
        return [`${target.name} was not reverted to ${weight}: ${error.message}`];
      }
    }),
  );
  await removeFinalizer(rebalances, object, REVERT_FINALIZER, { signal });
  return given.flat();
}
