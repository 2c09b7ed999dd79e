import { describe, expect, test } from "@jest/globals";
import { samplePlan } from "../testing/sample-plan.ts";
import {
  type Eviction,
  evictionOf,
  type EvictionRecord,
  followed,
  memoryOf,
  NO_EVICTIONS,
  READY_TIMEOUT,
  reasonToStop,
} from "./evictions.ts";
import { type ClusterSnapshot, NONE, UNKNOWN } from "./snapshot.ts";

const AT = 1_000_000_000;
const MINUTE = 60_000;

const eviction: Eviction = {
  ...{ uid: "old", namespace: "shop", pod: "press-1", owner: "rs", workload: "deploy", from: "one", policy: "default" },
  ...{
    at: AT,
    expected: [
      { node: "two", probability: 0.95 },
      { node: "three", probability: 0.05 },
    ],
  },
  ...{ backOff: 15 * MINUTE, landed: null, replacement: "" },
};
const record = (own: Partial<Eviction> = {}): EvictionRecord => ({
  ...NO_EVICTIONS,
  evictions: [{ ...eviction, ...own }],
});

interface Pod {
  readonly uid: string;
  readonly node?: number;
  readonly ready?: boolean;
  readonly startedAt?: number;
}

/** Three nodes, and a ReplicaSet with some pods. */
function clusterOf(pods: readonly Pod[], replicas = 2): ClusterSnapshot {
  const column = (of: (pod: Pod) => number) => pods.map(of);
  const owner = { uid: "rs", replicas, workload: { kind: "Deployment", name: "press", uid: "deploy" } };
  return {
    nodes: ["one", "two", "three"].map((name) => ({ name })),
    owners: [owner],
    slos: [{ namespace: "shop", name: "hour", spec: {} }],
    pods: {
      uid: pods.map(({ uid }) => uid),
      owner: column(() => 0),
      shape: column(() => 4),
      flags: column(() => 0),
      node: column(({ node = 1 }) => node),
      readySince: column(({ ready = true }) => (ready ? AT : UNKNOWN)),
      startedAt: column(({ startedAt = 0 }) => startedAt),
    },
  } as unknown as ClusterSnapshot;
}

describe("an eviction", () => {
  test("is in flight while the old pod is there, and until a new one is ready", () => {
    const later = AT + MINUTE;
    for (const pods of [
      [{ uid: "old" }, { uid: "sibling" }],
      [{ uid: "sibling" }, { uid: "new", ready: false, startedAt: later }],
      [{ uid: "sibling" }],
    ]) {
      const { evictions } = followed(record(), clusterOf(pods), later);
      expect(evictions[0]?.landed).toBeNull();
    }
  });

  test("ends on the node of its replacement, where the workload is left alone for a while", () => {
    const pods = [{ uid: "sibling" }, { uid: "new", node: 1, startedAt: AT + 5000 }];
    const { evictions, backOffs, foreseen } = followed(record(), clusterOf(pods), AT + MINUTE);
    expect(evictions[0]).toMatchObject({ landed: "two", replacement: "new" });
    expect(backOffs).toEqual([{ owner: "deploy", node: "two", until: AT + 16 * MINUTE, returns: 0 }]);
    expect(foreseen).toEqual([true]);
  });

  test("whose replacement returns is backed off for twice as long with each return", () => {
    const pods = [{ uid: "sibling" }, { uid: "new", node: 0, startedAt: AT + 5000 }];
    const back = (returns: number): EvictionRecord => ({
      ...record(),
      backOffs: [{ owner: "deploy", node: "one", until: AT, returns }],
    });
    const lengths = [0, 1, 2].map((returns) => {
      const { backOffs } = followed(back(returns), clusterOf(pods), AT + MINUTE);
      return ((backOffs[0]?.until ?? 0) - AT - MINUTE) / MINUTE;
    });
    expect(lengths).toEqual([15, 30, 60]);
    expect(followed(back(0), clusterOf(pods), AT + MINUTE).foreseen).toEqual([false]);
  });

  test("of a workload that was scaled down or is gone has no replacement to wait for", () => {
    expect(followed(record(), clusterOf([{ uid: "sibling" }], 1), AT + MINUTE).evictions[0]?.landed).toBe("");
    const gone = { ...clusterOf([]), owners: [] };
    expect(followed(record(), gone, AT + MINUTE).evictions[0]?.landed).toBe("");
  });

  test("is forgotten after the longest window", () => {
    expect(followed(record({ landed: "two" }), clusterOf([]), AT + 60 * MINUTE).evictions).toEqual([]);
  });
});

test("a plan is told what was evicted in its windows, and what is in flight with its shape", () => {
  const cluster = clusterOf([{ uid: "sibling" }]);
  const { lastMinute, lastHour, inFlight } = memoryOf(record(), cluster, {}, AT + 30_000);
  expect({ lastMinute, lastHour }).toEqual({ lastMinute: 1, lastHour: { "shop/hour": 1 } });
  expect(inFlight).toEqual([{ owner: "rs", from: "one", expected: eviction.expected, shape: 4 }]);
  expect(memoryOf(record(), cluster, {}, AT + MINUTE).lastMinute).toBe(0);
  expect(memoryOf(record(), clusterOf([]), {}, AT).inFlight[0]?.shape).toBe(NONE);
});

describe("evictions stop", () => {
  test("while a replacement is not ready in time", () => {
    expect(reasonToStop(record(), AT + READY_TIMEOUT)).toBeNull();
    expect(reasonToStop(record(), AT + READY_TIMEOUT + 1)).toMatchObject({ reason: "ReplacementNotReady" });
    expect(reasonToStop(record({ landed: "two" }), AT + READY_TIMEOUT + 1)).toBeNull();
  });

  test("when fewer than 35 of the last 50 landings were foreseen, and not before there are 50", () => {
    const judged = (right: number, wrong: number): EvictionRecord => ({
      ...NO_EVICTIONS,
      foreseen: [...Array<boolean>(right).fill(true), ...Array<boolean>(wrong).fill(false)],
    });
    expect(reasonToStop(judged(0, 49), AT)).toBeNull();
    expect(reasonToStop(judged(35, 15), AT)).toBeNull();
    expect(reasonToStop(judged(34, 16), AT)).toMatchObject({ reason: "LandingUntrusted" });
  });
});

test("a planned move becomes a record with its workload", () => {
  const [move] = samplePlan().moves;
  if (move === undefined) throw new Error("no move");
  const about = { policy: "default", at: AT, backOff: MINUTE };
  const cluster = { owners: [{ uid: "owner", workload: { uid: "deploy" } }] } as unknown as ClusterSnapshot;
  expect(evictionOf(move, cluster, about)).toMatchObject({ uid: "uid-press-1", workload: "deploy", landed: null });
});
