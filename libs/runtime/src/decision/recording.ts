import { isDeepStrictEqual } from "node:util";
import { explain } from "../error.ts";
import { BadRecording } from "../errors.ts";
import { scrub } from "../scrub.ts";
import type { Decider, Decision, Snapshot, Verdict } from "./decision.ts";

/** The file that a user sends with a report: one snapshot and the decision it led to. */
export interface Recording {
  readonly recording: 1;
  readonly service: string;
  readonly version: string;
  readonly decision: Decision;
  readonly snapshot: Snapshot;
}

/** Joins the parts without parsing the snapshot again: it can be large. Like it, the decision loses its credentials. */
export function recordingText(service: string, version: string, decision: Decision, snapshotText: string): string {
  const head = scrub(JSON.stringify({ recording: 1, service, version, decision }));
  return `${head.slice(0, -1)},"snapshot":${snapshotText}}\n`;
}

export function parseRecording(file: string, text: string, service: string): Recording {
  let parsed: Partial<Recording> | null;
  try {
    parsed = JSON.parse(text) as Partial<Recording> | null;
  } catch (error) {
    throw new BadRecording({ file, fault: `it is not JSON (${explain(error)})` }, { cause: error });
  }
  if (parsed?.recording !== 1 || !isRecord(parsed.decision) || !isRecord(parsed.snapshot)) {
    throw new BadRecording({ file, fault: "it is not a recording of a decision" });
  }
  if (parsed.service !== service) {
    throw new BadRecording({ file, fault: `it is ${JSON.stringify(parsed.service)}'s, and this is ${service}` });
  }
  return parsed as Recording;
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface Replay {
  readonly same: boolean;
  readonly verdict: Verdict;
}

/** Decides on the recorded snapshot again. */
export function replay(decider: Decider, recording: Recording): Replay {
  const verdict = decider.decide(recording.snapshot);
  const { object, action, reason, before, after, message } = recording.decision;
  const again = JSON.parse(scrub(JSON.stringify(verdict))) as Verdict;
  const same = isDeepStrictEqual(
    { object, action, reason, before, after, message },
    {
      object: again.object,
      action: again.action,
      reason: again.reason,
      before: again.before,
      after: again.after,
      message: again.message,
    },
  );
  return { same, verdict };
}
