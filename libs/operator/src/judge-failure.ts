import { type Condition, judge, type Judgement, setConditions } from "@evenkeel/kube";
import { CodedError, type CodedErrorClass, explain } from "@evenkeel/runtime";

/** The condition Ready of an object whose reconcile failed. Its message says what happened, why, and what to do. */
export function judgeFailure(error: unknown, generation: number): Judgement {
  const why = explain(error).replace(/\.$/, "");
  const remedy = remedyOf(error) ?? "See the log of the leader.";
  return judge("Ready", false, "Failed", `The reconcile failed and is retried: ${why}. ${remedy}`, generation);
}

/**
 * The conditions after a reconcile that failed: all but Ready stay. The same array if nothing changes, so that the
 * caller knows that there is nothing to write.
 */
export function conditionsAfterFailure(
  present: readonly Condition[] | undefined,
  error: unknown,
  generation: number,
  now: number,
): readonly Condition[] {
  return setConditions(present ?? [], [judgeFailure(error, generation)], now);
}

function remedyOf(error: unknown): string | undefined {
  return error instanceof CodedError ? (error.constructor as Partial<CodedErrorClass>).entry?.remedy : undefined;
}
