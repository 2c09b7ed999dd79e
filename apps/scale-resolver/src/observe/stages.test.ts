import { describe, expect, test } from "@jest/globals";
import { quietService } from "../testing/quiet-service.ts";
import { replicasAfter } from "./stages.ts";

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
