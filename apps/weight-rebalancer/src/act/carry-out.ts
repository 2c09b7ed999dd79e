import { kubeErrors, type LastLook } from "@evenkeel/kube";
import { type Clock, explain } from "@evenkeel/runtime";
import { within } from "../decide/targets.ts";
import type { WeightAction } from "../decide/weight-decider.ts";
import type { ObservedTarget } from "../observe/observer.ts";
import { TargetChanged } from "../errors.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { WeightTarget } from "../targets/weight-target.ts";

export interface CarryOutOptions {
  readonly clock: Clock;
  /** Milliseconds after which a write is aborted. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly lastLook: LastLook;
}

/** The result of a decision for one target. */
export interface TargetOutcome {
  readonly target: WeightTarget;
  /** The weight that it has now; null if that is unknown. */
  readonly actual: number | null;
  /** The decided weight within the range of the target. */
  readonly wanted: number | null;
  readonly pending: boolean;
  /** Why reading or writing it failed. */
  readonly error: unknown;
}

/**
 * Writes the decided weight to every readable target that has another one. Targets do not wait for each other. It never
 * rejects: each outcome has the error of its target.
 */
export function carryOut(
  decision: { readonly action: WeightAction; readonly after: number | null; readonly dryRun: boolean },
  targets: readonly ObservedTarget[],
  options: CarryOutOptions,
): Promise<readonly TargetOutcome[]> {
  return Promise.all(
    targets.map(async ({ target, reading, error }): Promise<TargetOutcome> => {
      const wanted = decision.after === null ? null : within(target.range, decision.after);
      const before = { target, actual: reading.weight, wanted, pending: reading.pending, error };
      const leave = decision.action === "hold" || decision.dryRun || reading.weight === wanted;
      if (leave || reading.weight === null || wanted === null) return before;
      try {
        await write(target, wanted, reading.weight, options);
        return { ...before, actual: wanted, pending: reading.timeToLive !== 0, error: undefined };
      } catch (failure) {
        return { ...before, error: failure };
      }
    }),
  );
}

/**
 * The names of the targets that did not accept the decision. One that another client changed is not among them: its
 * weight is known.
 */
export function failedTargets(outcomes: readonly TargetOutcome[]): readonly string[] {
  const failed = outcomes.filter(({ error }) => error !== undefined && !(error instanceof TargetChanged));
  return failed.map(({ target }) => target.name);
}

/**
 * Why a write was stopped before it was sent: the Rebalance, the leader or the weight of the target changed meanwhile.
 */
export function overtakenBy(outcomes: readonly TargetOutcome[]): Error | undefined {
  return outcomes.map(({ error }) => error).find(isOvertaken);
}

/** Whether every write was stopped before it was sent, so that nothing is to be remembered. */
export function isUntouched(outcomes: readonly TargetOutcome[]): boolean {
  return outcomes.length > 0 && outcomes.every(({ error }) => isOvertaken(error));
}

function isOvertaken(error: unknown): error is Error {
  return error instanceof kubeErrors.ActOvertaken || error instanceof TargetChanged;
}

/** The faults of all targets as one clause; undefined if there are none. */
export function faultsOf(outcomes: readonly TargetOutcome[]): string | undefined {
  const faults = outcomes.flatMap(({ error }) => (error === undefined ? [] : [explain(error)]));
  return faults.length === 0 ? undefined : [...new Set(faults)].join("; ");
}

function write(
  target: WeightTarget,
  weight: number,
  expected: number,
  { clock, limit, signal, lastLook }: CarryOutOptions,
): Promise<void> {
  return withTimeLimit(clock, limit, signal, (limited) =>
    target.write(weight, { signal: limited, lastLook, expected }),
  );
}
