import { kubeErrors, type LastLook } from "@evenkeel/kube";
import { CodedError, type Clock, explain, isRetryable } from "@evenkeel/runtime";
import {
  AllZero,
  NoHttpRoute,
  NoHttpRouteBackend,
  NoHttpRouteRule,
  OutOfRange,
  Route53NoRecord,
  Route53NotWeighted,
  Route53NoZone,
} from "../errors.ts";
import { withTimeLimit } from "../time-limit.ts";
import { WRITE_LIMIT } from "../timing.ts";
import type { WeightTarget } from "../targets/weight-target.ts";

/** A target that is to have the weight again which it had before the first change. */
export interface Revertible {
  readonly name: string;
  readonly weight: number;
  /** Undefined if it is not known how the target is reached. */
  readonly target: WeightTarget | undefined;
  /** Who writes the target now, so that it must not be reverted. */
  readonly writer?: string | undefined;
}

export interface RevertOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly lastLook: LastLook;
  /** Wall time since which the revert has been tried. */
  readonly since: number;
}

/**
 * The result for one target. `abandoned` means that it is not retried. `error` is why it failed.
 *
 *     reverted    it has the weight
 *     abandoned   the target is gone, another Rebalance writes it, or a person did not repair the access in time
 *     waiting     it is retried, or when the original no longer runs
 */
export interface Reverted {
  readonly name: string;
  readonly outcome: "reverted" | "abandoned" | "waiting";
  readonly message: string;
  readonly error?: unknown;
  /** Why it was not attempted. */
  readonly reason?: "OriginalRuns";
}

/** Milliseconds for which a revert is retried that a person must make possible, such as by a Secret or a right. */
export const REVERT_LIMIT = 600_000;

/** Milliseconds between two attempts, at most. */
export const REVERT_RETRY = 30_000;

/** Faults after which there is nothing to revert, however long one waits. */
const GONE: ReadonlySet<string> = new Set(
  [
    ...[AllZero, OutOfRange, Route53NoRecord, Route53NotWeighted, Route53NoZone],
    ...[NoHttpRoute, NoHttpRouteRule, NoHttpRouteBackend],
  ].map(({ entry }) => entry.code),
);

/** Reverts the targets; they do not wait for each other. Rejects only if the object changed or the leader did. */
export function revert(targets: readonly Revertible[], options: RevertOptions): Promise<readonly Reverted[]> {
  return Promise.all(targets.map((each) => revertOne(each, options)));
}

/** The results while the original rebalancer runs, which may write the targets too. `lease` names its holder. */
export function afterOriginal(targets: readonly Revertible[], lease: string): readonly Reverted[] {
  const why = `the original rebalancer still runs (Lease ${lease}); remove its Deployment first`;
  return targets.map(({ name, weight }) => {
    const message = `${name} was not reverted to ${weight}: ${why}`;
    return { name, outcome: "waiting", message, reason: "OriginalRuns" };
  });
}

async function revertOne(
  { name, weight, target, writer }: Revertible,
  { clock, signal, lastLook, since }: RevertOptions,
): Promise<Reverted> {
  const not = `${name} was not reverted to ${weight}`;
  if (writer !== undefined) return { name, outcome: "abandoned", message: `${not}: ${writer} writes it now` };
  if (target === undefined)
    return { name, outcome: "abandoned", message: `${not}: status does not say how it is reached; set it by hand` };
  try {
    const write = (limited: AbortSignal) => target.write(weight, { signal: limited, lastLook });
    await withTimeLimit(clock, WRITE_LIMIT, signal, write);
    return { name, outcome: "reverted", message: `${name} was reverted to ${weight}` };
  } catch (error) {
    if (error instanceof kubeErrors.ActOvertaken) throw error;
    const message = `${not}: ${explain(error)}`;
    const isGone = error instanceof CodedError && GONE.has(error.code);
    const isOver = !isRetryable(error) && clock.now() - since >= REVERT_LIMIT;
    return { name, outcome: isGone || isOver ? "abandoned" : "waiting", message, error };
  }
}
