import { expect, test } from "@jest/globals";
import { sampleMove, samplePlan } from "../testing/sample-plan.ts";
import type { Plan } from "./answer.ts";
import { verdictOf } from "./policy-decider.ts";

const about = { policy: "default", paused: false, dryRun: true, original: null, usageFault: null, stop: null };
const stop = { reason: "StateAway" as const, message: "Redis does not answer" };
const level = { known: 3, hot: 0, cold: 0, frozen: [] };

test.each([
  ["is evicted for because nodes are hot", {}, {}, "evict", "HotNodes", ["shop/press-1"]],
  ["is evicted for because σ is above its target", { nodes: level }, {}, "evict", "AboveTarget", ["shop/press-1"]],
  ["holds while the original is active", {}, { original: "pod (Lease a/b)" }, "hold", "OriginalRuns", []],
  ["holds while evictions are stopped", {}, { stop }, "hold", "StateAway", []],
  ["holds at its target", { moves: [], outcome: "TargetReached" }, {}, "hold", "TargetReached", []],
  ["holds if nothing helps", { moves: [] }, {}, "hold", "AsLevelAsItGets", []],
  ["holds if no pod may be moved", { moves: [], outcome: "BudgetSpent" }, {}, "hold", "AsLevelAsItGets", []],
  ["holds without usage", { moves: [], outcome: "NothingKnown" }, { usageFault: "away" }, "hold", "NoUsage", []],
  ["holds with one known node", { moves: [], outcome: "NothingKnown" }, {}, "hold", "NothingKnown", []],
] satisfies [string, Partial<Plan>, object, string, string, string[]][])(
  "a policy %s",
  (_what, own, given, action, reason, after) => {
    expect(verdictOf({ ...about, ...given }, samplePlan(own))).toMatchObject({ action, reason, after });
  },
);

test("an invalid policy holds and names its fields", () => {
  const faults = [{ field: "spec.coldThreshold", message: "expected less than hotThreshold 0.2, not 0.9" }];
  const verdict = verdictOf(about, samplePlan({ moves: [], outcome: "InvalidPolicy", faults }));
  expect(verdict).toMatchObject({ action: "hold", reason: "InvalidPolicy" });
  expect(verdict.message).toContain("spec.coldThreshold");
});

test("a paused policy has no plan", () => {
  expect(verdictOf({ ...about, paused: true }, null)).toMatchObject({ action: "hold", reason: "Paused" });
});

test("of a large plan the first pods are named and all are counted", () => {
  const moves = Array.from({ length: 30 }, (_, index) => sampleMove(`press-${index}`));
  const { after, message } = verdictOf(about, samplePlan({ moves }));
  expect(after).toHaveLength(20);
  expect(message).toContain("30 evictions");
});
