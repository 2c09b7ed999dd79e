import { describe, expect, test } from "@jest/globals";
import { quietService } from "../testing/quiet-service.ts";
import { interruptedAfter, replicasAfter } from "./stages.ts";

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

describe("attempts to sleep that requests interrupted in a row", () => {
  const falling = quietService({ stage: { state: "Guard", purpose: "sleep" }, interrupted: 2 });
  const guarded = quietService({ stage: { state: "Guard", purpose: "safety" }, interrupted: 2 });
  test.each([
    ["a request came", falling, "Serve", "RequestSeen", 3],
    ["a request is in flight", falling, "Serve", "InFlight", 3],
    ["a trigger reports traffic", falling, "Serve", "Busy", 3],
    ["the resolver left for another reason", falling, "Serve", "NoResolver", 2],
    ["pods are ready after a wake", guarded, "Serve", "PodsReady", 2],
    ["it still waits", falling, "Guard", "Quieting", 2],
    ["it sleeps", falling, "Zero", "Quiet", 0],
    ["another client scaled it to zero", guarded, "Zero", "ScaledToZero", 0],
  ] as const)("%s", (_name, snapshot, after, reason, expected) => {
    expect(interruptedAfter(snapshot, { after, reason })).toBe(expected);
  });
});
