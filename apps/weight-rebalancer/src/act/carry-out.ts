import { type Clock, explain } from "@evenkeel/runtime";
import { within } from "../decide/targets.ts";
import type { WeightAction } from "../decide/weight-decider.ts";
import type { ObservedTarget } from "../observe/observer.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { WeightTarget } from "../targets/weight-target.ts";

export interface CarryOutOptions {
  readonly clock: Clock;
  /** Milliseconds after which what was decided is too old to be written. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly held: () => boolean;
}

/** What a decision came to on one target. */
export interface TargetOutcome {
  readonly target: WeightTarget;
  /** The weight that it has now; null while it is unknown. */
  readonly actual: number | null;
  /** What it was to have: the decided weight within the target's range. */
  readonly wanted: number | null;
  readonly pending: boolean;
  /** Why it could not be read or written. */
  readonly error: unknown;
}

/**
 * Brings every target that can be read to the decided weight. Targets do not wait for each other, and those that have the weight
 * already are left alone, so that doing it twice does no more than once. It never rejects: each outcome says what went wrong.
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
        await write(target, wanted, options);
        return { ...before, actual: wanted, pending: reading.timeToLive !== 0, error: undefined };
      } catch (failure) {
        return { ...before, error: failure };
      }
    }),
  );
}

/** Whether every target took the decision. */
export function isCarriedOut({ dryRun }: { readonly dryRun: boolean }, outcomes: readonly TargetOutcome[]): boolean {
  return !dryRun && outcomes.every(({ error }) => error === undefined);
}

/** A sentence's end for what went wrong on the targets; nothing if all went well. */
export function faultsOf(outcomes: readonly TargetOutcome[]): string | undefined {
  const faults = outcomes.flatMap(({ error }) => (error === undefined ? [] : [explain(error)]));
  return faults.length === 0 ? undefined : [...new Set(faults)].join("; ");
}

function write(
  target: WeightTarget,
  weight: number,
  { clock, deadline, signal, held }: CarryOutOptions,
): Promise<void> {
  return withTimeLimit(clock, deadline, signal, (limit) => target.write(weight, { signal: limit, held }));
}
