import { MetricRegistry } from "@evenkeel/metrics";
import { PAUSED } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import { systemClock, termUntil } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { openState } from "@evenkeel/state";
import { describe, expect, test } from "@jest/globals";
import { Evictor, type EvictorOptions } from "./act/evictor.ts";
import { Ledger } from "./act/ledger.ts";
import { DEFAULT_POLICY } from "./decide/fixtures.ts";
import type { PlanUnderWay } from "./decide/snapshot.ts";
import { Measures } from "./measures.ts";
import { metrics as table } from "./metrics.ts";
import type { Planning } from "./observe/planning.ts";
import { narrowed, PolicyReconciler, type PolicyReconcilerOptions } from "./reconciler.ts";
import { fixtureSnapshot } from "./testing/fixture-snapshot.ts";
import { samplePlan } from "./testing/sample-plan.ts";

test.each([
  ["all namespaces", undefined, ["a"], ["a"]],
  ["every one by *", ["*"], ["a", "b"], ["a", "b"]],
  ["some", ["b", "c"], ["a", "b"], ["b"]],
  ["none of the watched ones", ["c"], ["a"], [""]],
])("a policy of %s is narrowed to the namespaces whose pods may be evicted", (_what, include, watched, expected) => {
  const spec = { ...DEFAULT_POLICY, namespaces: include === undefined ? {} : { include, exclude: ["x"] } };
  expect(narrowed(spec, watched).namespaces?.include).toEqual(expected);
  expect(narrowed(spec, undefined)).toBe(spec);
});

const UNDER_WAY: PlanUnderWay = { pods: ["left"], sigma: 0.1 };
const log = silentLog();

interface Edit {
  readonly generation?: number;
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Reconciles a policy that evicts, as it is after each of some edits. Gives the plan under way that each plan started from. */
async function plansUnderWay(...edits: readonly Edit[]): Promise<readonly (PlanUnderWay | null)[]> {
  const registry = new MetricRegistry();
  const metrics = registry.register(table);
  const common = { service: "test", clock: systemClock, log, registry, deadline: 1000 };
  const state = openState("sqlite::memory:", common);
  await state.start?.({ signal: new AbortController().signal, fail: () => undefined });
  const started: (PlanUnderWay | null)[] = [];
  const snapshot = await fixtureSnapshot();
  const plan: Planning["plan"] = (policy, recall) => {
    const memory = recall(snapshot.cluster);
    started.push(memory?.underWay ?? null);
    const made = samplePlan({ policy: policy.name, moves: [], sigma: null, underWay: memory && UNDER_WAY });
    return Promise.resolve({
      snapshot: { ...snapshot, policy, memory },
      plan: made,
      usageFault: null,
      measuredAt: null,
    });
  };
  const nobody = { live: () => Promise.resolve(null) };
  const evictor = new Evictor({
    ...{ ledger: new Ledger(state, log), lastCheck: { awaited: () => [] }, metrics, syncPeriod: 1000 },
    ...{ clock: systemClock, log, trustSince: () => 0, lastExecution: () => NaN },
  } as unknown as EvictorOptions);
  const reconciler = new PolicyReconciler({
    ...{ evictor, planning: { plan }, original: nobody, descheduler: nobody, state, metrics, clock: systemClock },
    ...{ dryRun: false, syncPeriod: 1000, namespaces: undefined, measures: new Measures({ metrics, registry }) },
    guardRails: { report: () => Promise.resolve() },
    statuses: { write: () => Promise.resolve() },
    decisions: { record: (verdict: object) => verdict },
    board: { show: () => undefined },
  } as unknown as PolicyReconcilerOptions);
  const signal = new AbortController().signal;
  const context = { signal, log, term: termUntil(signal, 1n) } as unknown as ObjectContext;
  for (const { generation = 1, spec = {}, annotations = {} } of edits) {
    const metadata = { name: "default", uid: "uid", generation, annotations };
    const type = { apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy" };
    const object = { ...type, metadata, spec: { basis: "requests", dryRun: false, ...spec } };
    await reconciler.reconcile(object, context);
  }
  await state.stop?.(AbortSignal.timeout(1000));
  return started;
}

describe("a plan that is carried out over several waves", () => {
  test("is continued while nothing changes", async () => {
    expect(await plansUnderWay({}, {})).toEqual([null, UNDER_WAY]);
  });

  test.each<[string, ...Edit[]]>([
    ["was paused", { annotations: { [PAUSED]: "true" } }, {}],
    ["was a dry run", { generation: 2, spec: { dryRun: true } }, { generation: 3 }],
    ["was edited", { generation: 2, spec: { targetSigma: 0.1 } }],
    ["was invalid", { generation: 2, spec: { hotThreshold: "hot" } }, { generation: 3 }],
  ])("is dropped when its policy %s", async (_what, ...edits) => {
    const started = await plansUnderWay({}, ...edits);
    expect(started.at(-1)).toBeNull();
    expect(started.length).toBeGreaterThan(1);
  });
});
