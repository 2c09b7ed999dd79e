import { MetricRegistry } from "@evenkeel/metrics";
import type { ObjectContext } from "@evenkeel/operator";
import { systemClock, termUntil } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import type { StoredClusterScore } from "./cluster-score-resource.ts";
import type { ScoreSnapshot } from "./decide/snapshot.ts";
import { metrics } from "./metrics.ts";
import { NOTHING_ASKED } from "./observe/peer-scores.ts";
import { ScoreReconciler, type ScoreReconcilerOptions } from "./reconciler.ts";

const snapshot: ScoreSnapshot = {
  ...{ at: "2026-11-01T00:00:00Z", namespace: "wao-system", name: "osaka", before: null, paused: false },
  ...{ original: null, invalid: null, duplicate: null, cost: null, limit: 90_000, cluster: null, peer: null },
};
const object: StoredClusterScore = {
  metadata: { namespace: "wao-system", name: "osaka" },
  spec: { endpoint: "https://osaka.example.com" },
};

/** Reconciles a peer of the region `osaka`, which `patch` writes into the spec. Resolves with the statuses written. */
async function reconciled(patch: () => Promise<unknown>, signal: AbortSignal): Promise<readonly object[]> {
  return (await reconciledAs(snapshot, 1000, patch, signal)).written;
}

async function reconciledAs(
  observed: ScoreSnapshot,
  interval: number,
  patch: () => Promise<unknown>,
  signal: AbortSignal,
) {
  const written: object[] = [];
  const reconciler = new ScoreReconciler({
    observer: { observe: () => Promise.resolve({ ...NOTHING_ASKED, region: "osaka", snapshot: observed }) },
    members: { own: () => undefined, get: () => undefined, comparison: () => "capacity" },
    decisions: { decide: () => ({ reason: "NoScore", dryRun: false }) },
    statuses: {
      write: (_object: StoredClusterScore, change: (present: undefined) => object) => {
        written.push(change(undefined));
        return Promise.resolve();
      },
    },
    ...{ board: { show: () => undefined }, metrics: new MetricRegistry().register(metrics), clock: systemClock },
    interval,
  } as unknown as ScoreReconcilerOptions);
  const term = termUntil(new AbortController().signal, 1n);
  const result = await reconciler.reconcile(object, {
    ...{ signal, term, log: silentLog(), checked: () => ({ patch }) },
  } as unknown as ObjectContext);
  return { written, result };
}

test("a region that is refused is told in the status", async () => {
  const refused = () => Promise.reject(new Error("no"));
  const [status] = await reconciled(refused, new AbortController().signal);
  const ready = expect.objectContaining({ type: "Ready", status: "False", reason: "Failed" }) as unknown;
  expect(status).toMatchObject({ conditions: expect.arrayContaining([ready]) as unknown });
});

test("a region that is not written before the deadline of the reconcile fails the reconcile", async () => {
  const deadline = new AbortController();
  const hangs = () => {
    deadline.abort(new Error("the deadline is over"));
    return Promise.reject(new Error("aborted"));
  };
  await expect(reconciled(hangs, deadline.signal)).rejects.toThrow("the deadline is over");
});

test("a peer that does not answer is asked again after 5 seconds, or after the interval if that is shorter", async () => {
  const fault = { reason: "Unreachable", message: "The peer does not answer" } as const;
  const silent: ScoreSnapshot = { ...snapshot, peer: { answered: false, fault, score: null } };
  const requeued = async (observed: ScoreSnapshot, interval: number) => {
    const signal = new AbortController().signal;
    const { result } = await reconciledAs(observed, interval, () => Promise.resolve(), signal);
    return Math.round((result?.requeueAfter ?? 0) / 1000);
  };
  expect(await requeued(silent, 30_000)).toBe(5);
  expect(await requeued(silent, 2000)).toBe(2);
  expect(await requeued(snapshot, 30_000)).toBe(30);
});
