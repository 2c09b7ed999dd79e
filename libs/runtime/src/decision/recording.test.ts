import { describe, expect, test } from "@jest/globals";
import type { Decider, Decision, Snapshot, Verdict } from "./decision.ts";
import { parseRecording, recordingText, replay } from "./recording.ts";
import { snapshotText } from "./snapshot-text.ts";

interface World extends Snapshot {
  readonly load: number;
  readonly from?: string;
}

function decide({ load, from = "somewhere" }: World): Verdict<"hold" | "raise", "High" | "Low"> {
  const high = load > 10;
  return {
    object: { kind: "Rebalance", namespace: "shop", name: "a" },
    action: high ? "raise" : "hold",
    reason: high ? "High" : "Low",
    before: 1,
    after: { weight: high ? 2 : 1, spread: NaN, nothing: undefined },
    message: `load ${load} from ${from}`,
  };
}
const decider: Decider<World, "hold" | "raise", "High" | "Low"> = {
  actions: ["hold", "raise"],
  reasons: ["High", "Low"],
  decide,
};

function record(snapshot: World, decision: Partial<Decision> = {}): string {
  const stamped = { ...decide(snapshot), id: "c0ffee", at: snapshot.at, dryRun: false, ...decision };
  return recordingText("sample", "1.2.3", stamped, snapshotText(snapshot));
}
const again = (text: string) => replay(decider, parseRecording("file.json", text, "sample"));

describe("a recording", () => {
  const at = "2026-01-01T00:00:00Z";

  test("holds service, version, decision and snapshot", () => {
    expect(parseRecording("file.json", record({ at, load: 11 }), "sample")).toMatchObject({
      recording: 1,
      service: "sample",
      version: "1.2.3",
      decision: { id: "c0ffee", action: "raise", reason: "High", at },
      snapshot: { at, load: 11 },
    });
  });

  test("replays to the same decision", () => {
    expect(again(record({ at, load: 11 }))).toMatchObject({ same: true, verdict: { action: "raise" } });
  });

  test.each<[string, Partial<Decision>]>([
    ["action", { action: "hold" }],
    ["reason", { reason: "Low" }],
    ["value", { after: { weight: 3, spread: null } }],
    ["value before", { before: 2 }],
    ["message", { message: "other words" }],
    ["object", { object: { kind: "Rebalance", name: "a" } }],
  ])("does not replay to the same decision when the %s differs", (_name, change) => {
    expect(again(record({ at, load: 11 }, change))).toMatchObject({ same: false, verdict: { action: "raise" } });
  });

  test("replays to the same although it was a dry run then", () => {
    expect(again(record({ at, load: 11 }, { dryRun: true })).same).toBe(true);
  });

  test("holds no credentials in its decision either, and still replays to the same", () => {
    const text = record({ at, load: 11, from: "http://user:hunter2@prometheus" });
    expect(text).not.toContain("hunter2");
    expect(again(text)).toMatchObject({ same: true });
  });

  test("is one line", () => {
    expect(record({ at, load: 1 }).split("\n")).toHaveLength(2);
  });
});

describe("a file that is no recording", () => {
  const valid = { recording: 1, service: "sample", version: "1", decision: { id: "1" }, snapshot: { at: "" } };
  test.each<[string, string, string]>([
    ["not JSON", "{", "it is not JSON"],
    ["empty", "", "it is not JSON"],
    ["null", "null", "it is not a recording of a decision"],
    ["a number", "5", "it is not a recording of a decision"],
    ["a list", "[]", "it is not a recording of a decision"],
    ["of a later format", JSON.stringify({ ...valid, recording: 2 }), "it is not a recording of a decision"],
    ["without a decision", JSON.stringify({ ...valid, decision: undefined }), "it is not a recording of a decision"],
    ["with no decision at all", JSON.stringify({ ...valid, decision: null }), "it is not a recording of a decision"],
    [
      "with a decision that is a list",
      JSON.stringify({ ...valid, decision: [] }),
      "it is not a recording of a decision",
    ],
    ["without a snapshot", JSON.stringify({ ...valid, snapshot: undefined }), "it is not a recording of a decision"],
    ["with no snapshot at all", JSON.stringify({ ...valid, snapshot: null }), "it is not a recording of a decision"],
    ["of another service", JSON.stringify({ ...valid, service: "other" }), `it is "other"'s, and this is sample`],
    ["of a service that is no text", JSON.stringify({ ...valid, service: { toString: 1 } }), "and this is sample"],
    ["of no service", JSON.stringify({ ...valid, service: undefined }), "and this is sample"],
  ])("is refused: %s", (_name, text, fault) => {
    expect(() => parseRecording("file.json", text, "sample")).toThrow(
      expect.objectContaining({ code: "EK_RUNTIME_BAD_RECORDING", message: expect.stringContaining(fault) }),
    );
    expect(() => parseRecording("file.json", text, "sample")).toThrow(/^file\.json cannot be replayed: /);
  });
});
