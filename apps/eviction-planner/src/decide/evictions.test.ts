import { describe, expect, test } from "@jest/globals";
import { sampleMove, samplePlan } from "../testing/sample-plan.ts";
import {
  type Eviction,
  evictionOf,
  type EvictionRecord,
  followed,
  judgedForecast,
  memoryOf,
  NO_EVICTIONS,
  READY_TIMEOUT,
  reasonToStop,
  trustedAgain,
} from "./evictions.ts";
import { type ClusterSnapshot, NONE, POD, UNKNOWN } from "./snapshot.ts";

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
  ...{ backOff: 15 * MINUTE, landed: null, replacement: "", lastSeen: AT, wave: 0 },
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
  readonly terminating?: boolean;
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
      flags: column(({ terminating }) => (terminating ? POD.terminating : 0)),
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

  test("of the only pod is in flight while nothing can create another one", () => {
    expect(followed(record(), clusterOf([], 1), AT + 5 * MINUTE).evictions[0]?.landed).toBeNull();
    expect(followed(record(), clusterOf([], 0), AT + 5 * MINUTE).evictions[0]?.landed).toBe("");
  });

  test("whose pod is there unharmed after two minutes was never made: the process died between its record and its call", () => {
    const unharmed = clusterOf([{ uid: "old" }, { uid: "sibling" }]);
    const landedAfter = (time: number) => followed(record(), unharmed, AT + time).evictions[0]?.landed;
    expect([landedAfter(2 * MINUTE), landedAfter(2 * MINUTE + 1)]).toEqual([null, ""]);
  });

  test("by a rollout is in flight for as long as the rollout takes", () => {
    const rolling = (rollout: "underWay" | "steady") => {
      const cluster = clusterOf([{ uid: "old" }], 1);
      return { ...cluster, owners: cluster.owners.map((owner) => ({ ...owner, rollout })) };
    };
    const landed = (rollout: "underWay" | "steady") =>
      followed(record({ surge: true }), rolling(rollout), AT + 5 * MINUTE).evictions[0]?.landed;
    expect([landed("underWay"), landed("steady")]).toEqual([null, ""]);
  });

  test("that was recorded before the clock was set back counts from now", () => {
    const ahead = record({ at: AT + 600 * MINUTE, lastSeen: AT + 600 * MINUTE });
    expect(followed(ahead, clusterOf([]), AT).evictions[0]).toMatchObject({ at: AT, lastSeen: AT });
    const gone = record({ at: AT + 600 * MINUTE, gone: AT + 601 * MINUTE });
    expect(followed(gone, clusterOf([]), AT).evictions[0]).toMatchObject({ at: AT, gone: AT });
  });

  test("that was answered late finds a replacement that started before the answer", () => {
    const pods = [{ uid: "sibling" }, { uid: "new", startedAt: AT + 5000 }];
    const late = record({ at: AT + 20_000, since: AT });
    expect(followed(late, clusterOf(pods), AT + MINUTE).evictions[0]?.landed).toBe("two");
  });

  test("is followed while the old pod takes its grace, which may last for longer than anything else", () => {
    const pods = [{ uid: "old", terminating: true }, { uid: "sibling" }, { uid: "new", startedAt: AT + 5000 }];
    expect(followed(record(), clusterOf(pods), AT + 5 * MINUTE).evictions[0]).toMatchObject({
      landed: "two",
      expected: [],
    });
  });

  test("of a StatefulSet is not late while the old pod terminates, because the new one starts after it", () => {
    const cluster = clusterOf([{ uid: "old", terminating: true }]);
    const set = { ...cluster, owners: cluster.owners.map((owner) => ({ ...owner, kind: "StatefulSet" })) };
    const next = followed(record(), set, AT + 20 * MINUTE);
    expect(next.evictions[0]).toMatchObject({ landed: null, lastSeen: AT + 20 * MINUTE });
    expect(reasonToStop(next, "default", AT + 29 * MINUTE)).toBeNull();
    expect(reasonToStop(next, "default", AT + 31 * MINUTE)).toMatchObject({ reason: "ReplacementNotReady" });
  });

  test("that was recorded and never made ends after two minutes, and stays spent", () => {
    const pods = [{ uid: "old" }, { uid: "sibling" }];
    expect(followed(record(), clusterOf(pods), AT + 2 * MINUTE).evictions[0]?.landed).toBeNull();
    const { evictions, backOffs, foreseen } = followed(record(), clusterOf(pods), AT + 2 * MINUTE + 1);
    expect(evictions[0]?.landed).toBe("");
    expect({ backOffs, foreseen }).toEqual({ backOffs: [], foreseen: [] });
  });

  test("keeps few of many likely nodes, so that an hour of them fits into one record", () => {
    const landings = Array.from({ length: 1000 }, (_, node) => ({ node: `node-${node}`, probability: 0.001 }));
    const move = { ...sampleMove("press-1"), landings };
    const cluster = { owners: [] } as unknown as ClusterSnapshot;
    expect(evictionOf(move, cluster, { policy: "default", at: AT, wave: AT, backOff: 1 }).expected).toHaveLength(50);
  });

  test("is forgotten after the longest window", () => {
    expect(followed(record({ landed: "two" }), clusterOf([]), AT + 60 * MINUTE).evictions).toEqual([]);
  });

  test("tells when its pod was gone from its node, and keeps that time", () => {
    const terminating = clusterOf([{ uid: "old", terminating: true }, { uid: "sibling" }]);
    const gone = clusterOf([{ uid: "sibling" }, { uid: "new", startedAt: AT + 5000 }]);
    const departuresAt = (next: EvictionRecord) => memoryOf(next, gone, { levels: {} }, AT + 3 * MINUTE).departures;
    const before = followed(record(), terminating, AT + MINUTE);
    expect(departuresAt(before)).toEqual([]);
    const after = followed(before, gone, AT + 2 * MINUTE);
    expect(departuresAt(followed(after, gone, AT + 3 * MINUTE))).toEqual([{ node: "one", at: AT + 2 * MINUTE }]);
  });

  test("without a replacement holds its workload after the longest window, and nothing else", () => {
    const [at, cluster] = [AT + 60 * MINUTE, clusterOf([{ uid: "sibling" }])];
    const next = followed(record(), cluster, at);
    expect(next.evictions).toMatchObject([{ uid: "old", landed: null, expected: [] }]);
    expect(memoryOf(next, cluster, { levels: {} }, at)).toMatchObject({ unreplaced: ["deploy"], inFlight: [] });
    expect(reasonToStop(next, "default", at)).toBeNull();
  });

  test("without a replacement is forgotten when its workload is gone, is whole or gets another pod", () => {
    const at = AT + 90 * MINUTE;
    const gone = { ...clusterOf([]), owners: [] };
    const late = clusterOf([{ uid: "sibling" }, { uid: "new", startedAt: AT + 80 * MINUTE }]);
    for (const cluster of [gone, clusterOf([{ uid: "sibling" }], 1), late]) {
      expect(followed(record(), cluster, at).evictions).toEqual([]);
    }
    expect(followed(record(), late, at)).toMatchObject({ foreseen: [], backOffs: [{ owner: "deploy", node: "two" }] });
  });
});

test("a plan is told what was evicted in its windows, and what is in flight with its shape", () => {
  const cluster = clusterOf([{ uid: "sibling" }]);
  const { lastMinute, lastHour, inFlight } = memoryOf(record(), cluster, { levels: {} }, AT + 30_000);
  expect({ lastMinute, lastHour }).toEqual({ lastMinute: 1, lastHour: { "shop/hour": 1 } });
  expect(inFlight).toEqual([{ owner: "rs", from: "one", expected: eviction.expected, shape: 4 }]);
  expect(memoryOf(record(), cluster, { levels: {} }, AT + MINUTE).lastMinute).toBe(0);
  expect(memoryOf(record(), clusterOf([]), { levels: {} }, AT).inFlight[0]?.shape).toBe(NONE);
});

test("back-offs that are over are dropped unless the workload returned, and at most 2000 are kept", () => {
  const backOff = (node: string, until: number, returns: number) => ({ owner: "deploy", node, until, returns });
  const kept = (backOffs: EvictionRecord["backOffs"]) =>
    followed({ ...NO_EVICTIONS, backOffs }, clusterOf([]), AT).backOffs;
  expect(kept([backOff("one", AT, 0), backOff("two", AT, 1)])).toEqual([backOff("two", AT, 1)]);
  const many = Array.from({ length: 3000 }, (_, node) => backOff(`n${node}`, AT + 1 + node, 0));
  expect(kept(many)).toHaveLength(2000);
  expect(kept(many)[0]).toMatchObject({ node: "n2999" });
});

test("a back-off is over by the clock of the windows, whatever the wall clock says", () => {
  expect(memoryOf(record(), clusterOf([]), { levels: {} }, AT).at).toBe(AT);
});

describe("evictions stop", () => {
  test("while a replacement is not ready in time", () => {
    expect(reasonToStop(record(), "default", AT + READY_TIMEOUT)).toBeNull();
    expect(reasonToStop(record(), "default", AT + READY_TIMEOUT + 1)).toMatchObject({ reason: "ReplacementNotReady" });
    expect(reasonToStop(record({ landed: "two" }), "default", AT + READY_TIMEOUT + 1)).toBeNull();
  });

  test("when fewer than 35 of the last 50 landings were foreseen, or can be whatever is still to come", () => {
    const judged = (right: number, wrong: number): EvictionRecord => ({
      ...NO_EVICTIONS,
      foreseen: [...Array<boolean>(right).fill(true), ...Array<boolean>(wrong).fill(false)],
    });
    expect(reasonToStop(judged(0, 15), "default", AT)).toBeNull();
    expect(reasonToStop(judged(0, 16), "default", AT)).toMatchObject({ reason: "LandingUntrusted" });
    expect(reasonToStop(judged(35, 15), "default", AT)).toBeNull();
    expect(reasonToStop(judged(34, 16), "default", AT)).toMatchObject({ reason: "LandingUntrusted" });
  });
});

describe("the forecast of a wave", () => {
  const foretold = { policy: "default", at: AT, sigma: 0.1, missedUntil: null };
  const about = { policy: "default", settles: true, backOff: 15 * MINUTE };
  const judge = (own: Partial<EvictionRecord>, sigma: number, after: number) =>
    judgedForecast({ ...NO_EVICTIONS, forecasts: [foretold], ...own }, { ...about, sigma }, AT + after);

  test("stops the policy for its back-off if σ stays above it by more than a margin", () => {
    const missed = judge({}, 0.16, 3 * MINUTE);
    expect(reasonToStop(missed, "default", AT + 17 * MINUTE)).toMatchObject({ reason: "ForecastMissed" });
    expect(reasonToStop(missed, "other", AT + 17 * MINUTE)).toBeNull();
    expect(judgedForecast(missed, { ...about, sigma: 0.16 }, AT + 18 * MINUTE).forecasts).toEqual([]);
  });

  test("is over if it came true, and waits for replacements and for usage to follow", () => {
    expect(judge({}, 0.15, 3 * MINUTE).forecasts).toEqual([]);
    expect(judge({}, 0.5, 2 * MINUTE).forecasts).toEqual([foretold]);
    expect(judge({ evictions: [eviction] }, 0.5, 9 * MINUTE).forecasts).toEqual([foretold]);
  });
});

test("a planned move becomes a record with its workload", () => {
  const [move] = samplePlan().moves;
  if (move === undefined) throw new Error("no move");
  const about = { policy: "default", at: AT, wave: AT, backOff: MINUTE };
  const cluster = { owners: [{ uid: "owner", workload: { uid: "deploy" } }] } as unknown as ClusterSnapshot;
  expect(evictionOf(move, cluster, about)).toMatchObject({ uid: "uid-press-1", workload: "deploy", landed: null });
});

describe("trust in landings", () => {
  const LOST = AT - MINUTE;
  const untrusted = { ...NO_EVICTIONS, foreseen: Array<boolean>(50).fill(false), untrustedSince: LOST };

  test("is lost at the landing that makes it too few, and that time stays", () => {
    const lost = followed({ ...untrusted, untrustedSince: null }, clusterOf([]), AT);
    expect(lost.untrustedSince).toBe(AT);
    expect(followed(lost, clusterOf([]), AT + MINUTE).untrustedSince).toBe(AT);
  });

  test("begins anew if somebody asks for it after it was lost", () => {
    expect(trustedAgain(untrusted, AT, AT)).toMatchObject({ foreseen: [], untrustedSince: null });
  });

  test.each([
    ["before it was lost", LOST - 1],
    ["for a time that is still to come", AT + 1],
    ["with what is no time", NaN],
    ["by nobody", -Infinity],
  ])("does not if that was asked %s", (_when, since) => {
    expect(trustedAgain(untrusted, since, AT)).toBe(untrusted);
  });
});
