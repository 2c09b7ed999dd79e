export { Decisions, decisionCounter } from "./decisions.ts";
export {
  type Decider,
  type Decision,
  type DecisionFilter,
  type DecisionOf,
  type DecisionSink,
  type DecisionSource,
  matches,
  objectKey,
  type ObjectRef,
  type Snapshot,
  type SnapshotOf,
  type Verdict,
} from "./decision.ts";
export type { RecorderLimits } from "./flight-recorder.ts";
export { parseRecording, type Recording, replay, type Replay } from "./recording.ts";
export { DecisionRing } from "./ring.ts";
export { snapshotText } from "./snapshot-text.ts";
