import type { Decision, DecisionSink, ObjectRef } from "@evenkeel/runtime";
import type { ObjectReference } from "../objects/reference.ts";
import type { EventRecorder } from "./events.ts";

export interface EventSinkOptions {
  readonly recorder: Pick<EventRecorder, "record">;
  /**
   * The object with its apiVersion and uid, by which people's tools find its Events; what a decision names otherwise.
   */
  readonly refer?: (object: ObjectRef) => ObjectReference | undefined;
  /** Whether a decision is bad news. None is unless told. */
  readonly isWarning?: (decision: Decision) => boolean;
}

/** Writes an Event for each decision that is news. What was decided in a dry run says so. */
export function eventSink({ recorder, refer, isWarning }: EventSinkOptions): DecisionSink {
  return {
    record: (decision) => {
      const { object, action, reason, message, dryRun } = decision;
      recorder.record({
        regarding: refer?.(object) ?? object,
        type: isWarning?.(decision) ? "Warning" : "Normal",
        reason,
        action,
        note: dryRun ? `Dry run: ${message}` : message,
      });
    },
  };
}
