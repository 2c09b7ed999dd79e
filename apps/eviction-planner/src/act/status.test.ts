import type { RebalancePolicyStatus } from "@evenkeel/api";
import { expect, test } from "@jest/globals";
import type { Plan } from "../decide/answer.ts";
import { samplePlan, sampleStay } from "../testing/sample-plan.ts";
import { lastExecutionOf, type Outcome, statusAfter, statusAfterFailure, statusOfInvalid } from "./status.ts";

const NOW = Date.parse("2026-11-01T08:00:00Z");

const planned: Outcome = {
  ...{ reason: "HotNodes", message: "1 node is hot", dryRun: true, plan: samplePlan() },
  ...{ usageFault: null, needsUsage: true, stateAvailable: true, landingTrusted: true, descheduler: null },
  ...{ evicted: 0, unclear: 0, inFlight: 0, failure: undefined },
};

const WAITING = { reason: "TargetReached", dryRun: false } as const;
const levelPlan = (underWay: Plan["underWay"]) =>
  samplePlan({ moves: [], nodes: { known: 3, hot: 0, cold: 0, frozen: [] }, underWay });

/** By type, the status and the reason of each condition. */
function conditionsOf({ conditions }: Pick<RebalancePolicyStatus, "conditions">): Record<string, string> {
  return Object.fromEntries((conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

const after = (own: Partial<Outcome>, present?: RebalancePolicyStatus) =>
  statusAfter(present, { ...planned, ...own }, 3, NOW) as RebalancePolicyStatus;

test("a plan is in the status with the fields of the original, σ, its forecast, its bound and what stays", () => {
  expect(after({})).toMatchObject({
    observedGeneration: 3,
    plan: {
      ...{ hotNodes: 1, coldNodes: 2, variance: 0.16, sigma: 0.4, predicted: 0.2, lowerBound: 0.19 },
      ...{ evictionsPlanned: 1, evictionsExecuted: 0, dryRun: true, blocked: { Pinned: 1 } },
    },
  });
});

test.each([
  ["that has moves", {}, { Ready: "True HotNodes", Converged: "False HotNodes", Blocked: "False HotNodes" }],
  [
    "in which nothing can be moved from a hot node",
    { reason: "AsLevelAsItGets", plan: samplePlan({ moves: [] }) },
    { Ready: "True AsLevelAsItGets", Converged: "False AsLevelAsItGets", Blocked: "True AsLevelAsItGets" },
  ],
  [
    "of level nodes",
    { reason: "TargetReached", plan: levelPlan(null) },
    { Ready: "True TargetReached", Converged: "True TargetReached", Blocked: "False TargetReached" },
  ],
  [
    "that waits for replacements of level nodes",
    { ...WAITING, inFlight: 2, plan: levelPlan({ pods: ["uid-press-1"], sigma: 0.2 }) },
    { Ready: "True TargetReached", Converged: "False ReplacementsInFlight", Blocked: "False TargetReached" },
  ],
  [
    "that waits for replacements of a hot node",
    { reason: "AsLevelAsItGets", inFlight: 1, plan: samplePlan({ moves: [] }) },
    { Converged: "False ReplacementsInFlight", Blocked: "False AsLevelAsItGets" },
  ],
  [
    "whose rest waits for the next minute",
    { ...WAITING, plan: levelPlan({ pods: ["uid-press-1"], sigma: 0.2 }) },
    { Converged: "False PlanUnderWay", Blocked: "False TargetReached" },
  ],
  [
    "that has nothing left to move",
    { ...WAITING, plan: levelPlan({ pods: [], sigma: 0.2 }) },
    { Converged: "True TargetReached", Blocked: "False TargetReached" },
  ],
  [
    "without usage",
    { reason: "NoUsage", plan: samplePlan({ moves: [], sigma: null }), usageFault: "no metrics-server" },
    { Ready: "False NoUsage", MetricsAvailable: "False NoUsage", Converged: "Unknown NoUsage" },
  ],
  [
    "while paused",
    { reason: "Paused", plan: null },
    { Ready: "Unknown Paused", Paused: "True Annotation", Converged: "Unknown Paused" },
  ],
] satisfies [string, Partial<Outcome>, Record<string, string>][])(
  "the conditions of a plan %s",
  (_when, own, expected) => {
    expect(conditionsOf(after(own))).toMatchObject(expected);
  },
);

test("the time of the last eviction stays when later plans evict nothing", () => {
  const stored = after({ dryRun: false, evicted: 2 });
  expect(stored.plan).toMatchObject({ evictionsExecuted: 2, lastExecutionTime: "2026-11-01T08:00:00.000Z" });
  expect(after({ dryRun: false, evicted: 0 }, stored).plan).toMatchObject({
    ...{ evictionsExecuted: 0, lastExecutionTime: "2026-11-01T08:00:00.000Z" },
  });
});

test("the time of the last eviction stays when the rest of the plan is dropped", () => {
  const stored = after({ dryRun: false, evicted: 2 });
  const lastExecutionTime = "2026-11-01T08:00:00.000Z";
  const dropped = after({ reason: "NoUsage", plan: samplePlan({ moves: [], sigma: null }) }, stored).plan;
  expect(dropped).toMatchObject({ lastExecutionTime, sigma: null, message: null, blocked: null });
  expect(statusOfInvalid(stored, ["spec"], 4, NOW).plan).toMatchObject({ lastExecutionTime, sigma: null });
});

test("an eviction whose answer was lost counts as the last one", () => {
  expect(after({ dryRun: false, unclear: 1 }).plan).toMatchObject({ lastExecutionTime: "2026-11-01T08:00:00.000Z" });
});

test("the same outcome changes nothing, and a paused policy keeps its last plan", () => {
  const stored = after({});
  expect(after({}, stored)).toBe(stored);
  expect(after({ reason: "Paused", plan: null }, stored).plan).toEqual(stored.plan);
});

test("a reason that no longer holds any pod is removed, since a merge patch keeps what it does not name", () => {
  const { plan } = after({ plan: samplePlan({ stays: [sampleStay("a", "Young")] }) }, after({}));
  expect(plan?.blocked).toEqual({ Young: 1, Pinned: null });
});

test("a spec with wrong types removes the plan and names the fields", () => {
  const stored = after({});
  const status = statusOfInvalid(stored, ["spec.hysteresis: Too big"], 4, NOW);
  expect(status).toMatchObject({ observedGeneration: 4, plan: null });
  expect(conditionsOf(status as RebalancePolicyStatus)).toMatchObject({ Ready: "False InvalidPolicy" });
});

test("a reconcile that failed changes the condition Ready alone, of the generation that it was for", () => {
  const before = after({});
  const failed = statusAfterFailure(before, new Error("no plan was made"), 4, NOW) as RebalancePolicyStatus;
  expect(conditionsOf(failed)).toEqual({ ...conditionsOf(before), Ready: "False Failed" });
  expect(failed.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([4, 3, 3, 3, 3, 3, 3, 3]);
  expect(Object.keys(failed)).toEqual(["conditions"]);
  const stored = { ...before, ...failed };
  expect(statusAfterFailure(stored, new Error("no plan was made"), 4, NOW + 1000)).toBe(stored);
});

test("a wave that failed is no fault of the plan, which stays in the status", () => {
  const failed = after({ failure: new Error("the answer was lost"), evicted: 1 });
  expect(conditionsOf(failed)).toMatchObject({ Ready: "False Failed", Converged: "False HotNodes" });
  expect(failed.plan).toMatchObject({ evictionsExecuted: 1, sigma: 0.4 });
});

test("the status of the original tells of no eviction, and no status after it keeps its time", () => {
  const plan = { hotNodes: 1, evictionsPlanned: 0, dryRun: true, lastExecutionTime: "2026-11-01T07:59:00Z" };
  const original = { observedGeneration: 3, plan } as RebalancePolicyStatus;
  expect(lastExecutionOf(original)).toBeUndefined();
  const written = [
    statusAfter(original, planned, 3, NOW),
    statusAfter(original, { ...planned, reason: "Paused", plan: null }, 3, NOW),
    statusOfInvalid(original, ["spec"], 3, NOW),
    statusAfterFailure(original, new Error("away"), 3, NOW),
  ];
  for (const status of written) {
    expect(status.conditions).toBeDefined();
    expect(status.plan === null || status.plan?.lastExecutionTime === null).toBe(true);
  }
});
