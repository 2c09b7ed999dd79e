import type { RebalancePolicyStatus } from "@evenkeel/api";
import { PAUSED } from "@evenkeel/kube";
import { MetricRegistry } from "@evenkeel/metrics";
import type { ObjectContext } from "@evenkeel/operator";
import { systemClock, termUntil } from "@evenkeel/runtime";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { openState } from "@evenkeel/state";
import { describe, expect, test } from "@jest/globals";
import { Evictor, type EvictorOptions } from "./act/evictor.ts";
import { Ledger } from "./act/ledger.ts";
import type { PlanUnderWay } from "./decide/snapshot.ts";
import { PlanFailed } from "./errors.ts";
import { Measures } from "./measures.ts";
import { metrics as table } from "./metrics.ts";
import { followCluster } from "./observe/cluster/follow-cluster.ts";
import type { Planning } from "./observe/planning.ts";
import type { StoredPolicy } from "./policy-resource.ts";
import { narrowed, PolicyReconciler, type PolicyReconcilerOptions } from "./reconciler.ts";
import { fixtureSnapshot } from "./testing/fixture-snapshot.ts";
import { samplePlan } from "./testing/sample-plan.ts";
import { DEFAULT_POLICY } from "./testing/sample-snapshot.ts";

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
  readonly name?: string;
  readonly generation?: number;
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A cluster whose kinds are all listed. */
const LISTED: PolicyReconcilerOptions["cluster"] = { whenSynced: () => Promise.resolve() };

/** A reconciler that makes its plans by `plan`, and the statuses that it writes. */
async function build(plan: Planning["plan"], cluster = LISTED) {
  const registry = new MetricRegistry();
  const metrics = registry.register(table);
  const common = { service: "test", clock: systemClock, log, registry, deadline: 1000 };
  const state = openState("sqlite::memory:", common);
  const written: unknown[] = [];
  await state.start?.({ signal: new AbortController().signal, fail: () => undefined });
  const nobody = { live: () => Promise.resolve(null) };
  const evictor = new Evictor({
    ...{ ledger: new Ledger(state, log), lastCheck: { awaited: () => [] }, metrics, syncPeriod: 1000 },
    ...{ clock: systemClock, log, trustSince: () => 0, lastExecution: () => NaN },
  } as unknown as EvictorOptions);
  const reconciler = new PolicyReconciler({
    ...{ evictor, planning: { plan }, original: nobody, descheduler: nobody, state, metrics, clock: systemClock },
    ...{ dryRun: false, syncPeriod: 1000, namespaces: undefined, measures: new Measures({ metrics, registry }) },
    cluster,
    guardRails: { report: () => Promise.resolve() },
    statuses: {
      write: (object: StoredPolicy, change: (present?: RebalancePolicyStatus) => unknown) => {
        written.push(change(object.status));
        return Promise.resolve();
      },
    },
    decisions: { record: (verdict: object) => verdict },
    board: { show: () => undefined },
  } as unknown as PolicyReconcilerOptions);
  const { signal } = new AbortController();
  const context = { signal, log, term: termUntil(signal, 1n) } as unknown as ObjectContext;
  const stop = () => state.stop?.(AbortSignal.timeout(1000));
  return { reconciler, evictor, context, registry, written, stop };
}

const policy = ({ name = "default", generation = 1, spec = {}, annotations = {} }: Edit): StoredPolicy => {
  const metadata = { name, uid: "uid", generation, annotations };
  const type = { apiVersion: "rebalancer.dev/v1", kind: "RebalancePolicy" };
  return { ...type, metadata, spec: { basis: "requests", dryRun: false, ...spec } };
};

/**
 * Reconciles a policy that evicts, as it is after each of some edits. Gives the plan under way that each plan started
 * from.
 */
async function plansUnderWay(...edits: readonly Edit[]): Promise<readonly (PlanUnderWay | null)[]> {
  const started: (PlanUnderWay | null)[] = [];
  const snapshot = await fixtureSnapshot();
  const { reconciler, context, stop } = await build((of, recall) => {
    const memory = recall(snapshot.cluster);
    started.push(memory?.underWay ?? null);
    const made = samplePlan({ policy: of.name, moves: [], sigma: null, underWay: memory && UNDER_WAY });
    return Promise.resolve({
      ...{ snapshot: { ...snapshot, policy: of, memory }, plan: made },
      ...{ usageFault: null, measuredAt: null },
    });
  });
  for (const edit of edits) await reconciler.reconcile(policy(edit), context);
  await stop();
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

test("a plan that fails is in the condition Ready and in the metric", async () => {
  const { reconciler, context, registry, written, stop } = await build(() =>
    Promise.reject(new PlanFailed({ fault: "out of memory" })),
  );
  const object = policy({ generation: 2 });
  const error: unknown = await reconciler.reconcile(object, context).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "EK_PLANNER_PLAN_FAILED" });
  expect(written).toEqual([]);
  await reconciler.failed(object, error, context);
  const message = expect.stringContaining("out of memory") as unknown;
  const ready = { type: "Ready", status: "False", reason: "Failed", observedGeneration: 2, message };
  expect(written).toMatchObject([{ conditions: [ready] }]);
  expect(await registry.text()).toContain('rebalancer_ready{name="default"} 0');
  await stop();
});

test("policies that evict wait for the first lists at the same time, and each names the kind that is missing", async () => {
  const clock = new FakeClock();
  const reflect = ({ plural }: { readonly plural: string }) => {
    const hasSynced = plural !== "poddisruptionbudgets";
    return { hasSynced, whenSynced: () => (hasSynced ? Promise.resolve() : new Promise(() => undefined)) };
  };
  const cluster = followCluster({ reflect, common: { clock } } as unknown as Parameters<typeof followCluster>[0]);
  const { reconciler, context, stop } = await build(async (_of, _recall, signal) => {
    await cluster.whenSynced(signal);
    throw new Error("no plan");
  }, cluster);
  const errors: unknown[] = [];
  const [first, second] = [policy({ name: "first" }), policy({ name: "second" })];
  const ends = [first, second].map((each) =>
    reconciler.reconcile(each, context).catch((error: unknown) => errors.push(error)),
  );
  await clock.advance(15_000);
  const missing = { code: "EK_PLANNER_NOT_LISTED", message: expect.stringContaining("poddisruptionbudgets") };
  expect(errors).toMatchObject([missing, missing]);
  await Promise.all(ends);
  await stop();
});

test("a policy whose deadline passes while another one evicts rejects, and does not evict later", async () => {
  const { evictor, stop } = await build(() => Promise.reject(new Error("no plan")));
  const other = Promise.withResolvers<undefined>();
  const first = evictor.alone(() => other.promise, new AbortController().signal);
  const deadline = new AbortController();
  let begun = 0;
  const second = evictor.alone(() => Promise.resolve((begun += 1)), deadline.signal);
  deadline.abort(new Error("too late"));
  await expect(second).rejects.toThrow("too late");
  other.resolve(undefined);
  await first;
  await evictor.alone(() => Promise.resolve(), new AbortController().signal);
  expect(begun).toBe(0);
  await stop();
});
