import { describe, expect, test } from "@jest/globals";
import type { ServiceSnapshot } from "../decide/snapshot.ts";
import type { State } from "../decide/state.ts";
import { quietService, secondsAgo } from "../testing/quiet-service.ts";
import { idleSinceAfter, interruptedAfter, replicasAfter, stageAfter } from "./stages.ts";

describe("the stage after a decision that changes no state", () => {
  const falling = quietService({ stage: { state: "Guard", purpose: "sleep" }, activity: { requests: 3 } });

  test("begins again with the counts of the replicas that are left", () => {
    const { stage, at } = falling;
    expect(stageAfter(falling, { after: "Guard", reason: "ActivityUnknown" })).toEqual({
      ...stage,
      since: Date.parse(at),
      requests: 3,
    });
  });

  test("is the same otherwise, and while the counts are not known", () => {
    expect(stageAfter(falling, { after: "Guard", reason: "Quieting" })).toBe(falling.stage);
    const waking = quietService({ stage: { state: "Wake" }, activity: null });
    expect(stageAfter(waking, { after: "Wake", reason: "ActivityUnknown" })).toBe(waking.stage);
  });
});

describe("the replicas of a workload after a decision", () => {
  test.each([
    ["wake", 0, 3],
    ["wake", null, 3],
    // Another program scaled it up first, to more than a wake would.
    ["wake", 5, 5],
    ["sleep", 5, 0],
    ["move", 5, 5],
    ["stay", null, null],
  ] as const)("%s from %j: %j", (action, replicas, expected) => {
    expect(replicasAfter(quietService({ replicas, policy: { minReplicas: 3 } }), action)).toBe(expected);
  });
});

describe("the time since which a service is idle", () => {
  const now = secondsAgo(0);
  const before = (state: State) => quietService({ stage: { state }, idleSince: secondsAgo(2000), interrupted: 1 });
  const after = (state: State, interrupted = 1) => ({ stage: { ...quietService().stage, state }, interrupted });
  test.each<[string, ServiceSnapshot, ReturnType<typeof after>, number]>([
    ["is now after an interrupted attempt to sleep", before("Guard"), after("Serve", 2), now],
    ["stays after the resolver left for another reason", before("Guard"), after("Serve"), secondsAgo(2000)],
    ["is now after a wake", before("Zero"), after("Wake"), now],
    ["is now after a wake that was quick", before("Zero"), after("Guard"), now],
    ["stays while it sleeps", before("Zero"), after("Zero"), secondsAgo(2000)],
    ["stays after a sleep", before("Guard"), after("Zero", 0), secondsAgo(2000)],
  ])("%s", (_name, snapshot, memory, expected) => {
    expect(idleSinceAfter(snapshot, memory, now)).toBe(expected);
  });
});

describe("attempts to sleep that were interrupted in a row", () => {
  const falling = quietService({ stage: { state: "Guard", purpose: "sleep" }, interrupted: 2 });
  const guarded = quietService({ stage: { state: "Guard", purpose: "safety" }, interrupted: 2 });
  test.each([
    ["a request came", falling, "Serve", "RequestSeen", 3],
    ["a request is in flight", falling, "Serve", "InFlight", 3],
    ["a trigger reports traffic", falling, "Serve", "Busy", 3],
    ["a trigger cannot be evaluated", falling, "Serve", "TriggerUnknown", 3],
    ["a replica of the resolver is silent", falling, "Serve", "ActivityUnknown", 3],
    ["the resolver left for another reason", falling, "Serve", "NoResolver", 2],
    ["pods are ready after a wake", guarded, "Serve", "PodsReady", 2],
    ["it still waits", falling, "Guard", "Quieting", 2],
    ["a replica of the resolver stopped", falling, "Guard", "ActivityUnknown", 2],
    ["it sleeps", falling, "Zero", "Quiet", 0],
    ["another client scaled it to zero", guarded, "Zero", "ScaledToZero", 0],
  ] as const)("%s", (_name, snapshot, after, reason, expected) => {
    expect(interruptedAfter(snapshot, { after, reason })).toBe(expected);
  });
});
