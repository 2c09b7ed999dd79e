import type { Decision, DecisionSink, ObjectRef } from "@evenkeel/runtime";
import type { ObjectReference } from "../objects/reference.ts";
import type { EventRecorder } from "./events.ts";

export interface EventSinkOptions {
  readonly recorder: Pick<EventRecorder, "record">;
  /**
   * The object with its apiVersion and uid, by which kubectl finds its Events; default what the decision names.
   */
  readonly refer?: (object: ObjectRef) => ObjectReference | undefined;
  /** Whether the Event of a decision is a Warning. Default never. */
  readonly isWarning?: (decision: Decision) => boolean;
}

/** Writes an Event for each new decision. The message of a dry run starts with "Dry run". */
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
