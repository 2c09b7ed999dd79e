import { kubeErrors, type PodDisruptionBudget } from "@evenkeel/kube";
import type { Term } from "@evenkeel/runtime";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import type { PeerAnswer } from "../decide/go.ts";
import { type PlanSnapshot, POD, UNKNOWN } from "../decide/snapshot.ts";
import type { FollowedCluster } from "../observe/cluster/follow-cluster.ts";
import type { ObservedPod } from "../observe/cluster/observed-pod.ts";
import { hold } from "../decide/obstacles.ts";
import { sampleMove } from "../testing/sample-plan.ts";
import { LastCheck } from "./last-check.ts";
import { runWave } from "./wave.ts";

const NAMES = ["press-1", "press-2", "press-3"];

interface Scene {
  readonly evict?: (name: string, clock: FakeClock, beforeSend: (() => void) | undefined) => Promise<void>;
  readonly spend?: () => Promise<void>;
  readonly pods?: (name: string) => Partial<ObservedPod> | undefined;
  readonly budgets?: readonly PodDisruptionBudget[];
  readonly lastLook?: () => void;
  readonly age?: number;
  readonly peers?: (name: string) => Promise<readonly PeerAnswer[]>;
  readonly surges?: boolean;
}

const podOf = (name: string): ObservedPod =>
  ({
    metadata: { namespace: "shop", name, uid: `uid-${name}` },
    template: {
      metadata: {
        ...{ namespace: "shop", labels: { app: "press" } },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "press", uid: "rs", controller: true }],
      },
    },
    ...{ node: "one", readySince: 0, flags: 0 },
  }) as unknown as ObservedPod;

/** Runs three moves under one budget, and tells what was recorded, asked for and taken back. */
async function wave(scene: Scene = {}) {
  const { evict = () => Promise.resolve(), spend, pods, budgets = [], age = 0, surges = false } = scene;
  const told: string[] = [];
  const reasons: string[] = [];
  const clock = new FakeClock();
  const snapshot = {
    at: clock.now() - age,
    cluster: { owners: [], slos: [] },
    policy: { name: "default", spec: { respectPDB: true } },
  } as unknown as PlanSnapshot;
  const present = (name: string): ObservedPod | undefined => {
    const own = pods?.(name);
    return pods !== undefined && own === undefined ? undefined : { ...podOf(name), ...own };
  };
  const cluster = {
    pod: (key: string) => present(key.replace("shop/", "")),
    objects: () => ({ disruptionBudgets: budgets, pods: NAMES.flatMap((name) => present(name) ?? []) }),
  } as unknown as FollowedCluster;
  const lastCheck = new LastCheck({ cluster, clock, planTtl: 60_000 });
  const result = await runWave(
    {
      likelyNodes: [],
      moves: NAMES.map((name) => ({ ...sampleMove(name), limits: [hold("DisruptionBudget", "shop/press")] })),
    },
    snapshot,
    1000,
    {
      ledger: {
        spend: async ({ pod }) => {
          await spend?.();
          told.push(`spend ${pod}`);
        },
        restamp: ({ pod, at }, later) => Promise.resolve(void told.push(`restamp ${pod} by ${later - at}`)),
        refund: ({ pod }) => Promise.resolve(void told.push(`refund ${pod}`)),
      },
      go: (move, plan, peers) => lastCheck.go(move, plan, peers),
      decided: ({ reason }) => reasons.push(reason),
      peers: {
        prepare: ({ name }) => scene.peers?.(name) ?? Promise.resolve([]),
        stays: ({ name }) => Promise.resolve(void told.push(`stays ${name}`)),
        evicted: () => undefined,
      },
      settled: () => Promise.resolve(),
      isSurge: () => surges,
      surge: ({ pod }, _plan, { beforeSend }) => {
        beforeSend?.();
        return Promise.resolve(void told.push(`surge ${pod.name}`));
      },
      evict: async ({ name }, _move, { beforeSend }) => {
        beforeSend?.();
        told.push(`evict ${name}`);
        await evict(name, clock, beforeSend);
      },
      now: () => clock.now(),
    },
    { lastLook: scene.lastLook ?? (() => undefined), signal: new AbortController().signal, term: {} as Term },
  );
  return { told, reasons, ...pick(result), names: result.evicted.map(({ pod }) => pod.name), log: silentLog() };
}

const pick = ({ evicted, refused, unclear, fault }: Awaited<ReturnType<typeof runWave>>) => ({
  ...{ evicted, refused, unclear, fault },
});

const blocked = () =>
  new kubeErrors.EvictionBlocked(
    { call: "evict pods shop/press-2", message: "budget" },
    { status: 429, reason: "TooManyRequests", causes: [] },
  );

const budget = (name: string, allowed: number, own: object = {}): PodDisruptionBudget => ({
  metadata: { namespace: "shop", name, generation: 1, resourceVersion: "1" },
  spec: { selector: { matchLabels: { app: "press" } } },
  status: {
    disruptionsAllowed: allowed,
    currentHealthy: 3,
    desiredHealthy: 1,
    expectedPods: 3,
    observedGeneration: 1,
    ...own,
  },
});

test("each eviction is recorded before its call", async () => {
  const { told, names, reasons } = await wave();
  expect(told).toEqual(NAMES.flatMap((name) => [`spend ${name}`, `evict ${name}`]));
  expect(names).toEqual(NAMES);
  expect(reasons).toEqual(["Evicting", "Evicting", "Evicting"]);
});

test("a pod that its disruption budget keeps gives its record back and holds up no other", async () => {
  const { told, names, refused } = await wave({
    evict: (name) => (name === "press-2" ? Promise.reject(blocked()) : Promise.resolve()),
  });
  expect(told).toContain("refund press-2");
  expect(names).toEqual(["press-1", "press-3"]);
  expect(refused).toMatchObject([{ move: { pod: { name: "press-2" } }, by: "EvictionBlocked" }]);
});

test("an answer that leaves the outcome open ends the wave and keeps its record", async () => {
  const lost = new Error("connection lost");
  const { told, fault } = await wave({
    evict: (name) => (name === "press-2" ? Promise.reject(lost) : Promise.resolve()),
  });
  expect(told).toEqual(["spend press-1", "evict press-1", "spend press-2", "evict press-2"]);
  expect(fault).toBe(lost);
});

test("without a record there is no eviction", async () => {
  const away = new Error("state away");
  const { told, fault } = await wave({ spend: () => Promise.reject(away) });
  expect({ told, fault }).toEqual({ told: ["stays press-1"], fault: away });
});

test.each<[string, string, NonNullable<Scene["pods"]>]>([
  ["is gone", "PodChanged", () => undefined],
  ["is another of the same name", "PodChanged", () => ({ metadata: { name: "x", uid: "other" } })],
  ["moved", "PodChanged", () => ({ node: "two" })],
  ["became unready", "PodNotReady", () => ({ readySince: UNKNOWN })],
  ["was pinned", "EvictionForbidden", () => ({ flags: POD.pinned })],
])("a pod that %s since the plan is left alone", async (_what, reason, pods) => {
  const { told, reasons } = await wave({ pods });
  expect(told).toEqual([]);
  expect(reasons).toEqual([reason, reason, reason]);
});

test.each<[string, readonly PodDisruptionBudget[]]>([
  ["has no room any more", [budget("press", 0)]],
  ["is stale", [budget("press", 5, { observedGeneration: 0 })]],
  ["has another one beside it", [budget("press", 5), budget("second", 5)]],
])("a pod whose disruption budget %s is left alone without asking the API server", async (_what, budgets) => {
  const { told, reasons } = await wave({ budgets });
  expect(told).toEqual([]);
  expect(new Set(reasons)).toEqual(new Set(["DisruptionBudgetSpent"]));
});

test("a plan that is too old is dropped", async () => {
  const { told, reasons } = await wave({ age: 60_001 });
  expect(told).toEqual([]);
  expect(new Set(reasons)).toEqual(new Set(["PlanTooOld"]));
});

test("a policy that changes in a wave ends it, and what was not sent is refunded", async () => {
  let looks = 0;
  const overtaken = new kubeErrors.ActOvertaken({ object: "default", why: "changed" });
  const { told, fault } = await wave({
    lastLook: () => {
      looks += 1;
      if (looks === 6) throw overtaken;
    },
  });
  expect(told).toEqual(["spend press-1", "evict press-1", "spend press-2", "refund press-2", "stays press-2"]);
  expect(fault).toBe(overtaken);
});

test("a peer does not prepare a pod after its policy changed", async () => {
  const overtaken = new kubeErrors.ActOvertaken({ object: "default", why: "paused" });
  let isPaused = false;
  const asked: string[] = [];
  const { told, fault } = await wave({
    lastLook: () => {
      if (isPaused) throw overtaken;
    },
    peers: (name) => Promise.resolve(void asked.push(name)).then(() => []),
    evict: () => Promise.resolve(void (isPaused = true)),
  });
  expect(asked).toEqual(["press-1"]);
  expect(told).toEqual(["spend press-1", "evict press-1"]);
  expect(fault).toBe(overtaken);
});

test("an eviction that the client retries is not sent again after its policy changed", async () => {
  const overtaken = new kubeErrors.ActOvertaken({ object: "default", why: "paused" });
  let isPaused = false;
  const { told, fault, names } = await wave({
    lastLook: () => {
      if (isPaused) throw overtaken;
    },
    evict: (_name, _clock, beforeSend) => {
      isPaused = true;
      beforeSend?.();
      return Promise.resolve();
    },
  });
  expect(names).toEqual([]);
  expect(told).toEqual(["spend press-1", "evict press-1", "refund press-1", "stays press-1"]);
  expect(fault).toBe(overtaken);
});

test("an eviction that was answered late counts from its answer", async () => {
  const { told } = await wave({
    evict: async (name, clock) => {
      if (name === "press-1") await clock.advance(20_000);
    },
  });
  expect(told.slice(0, 4)).toEqual(["spend press-1", "evict press-1", "restamp press-1 by 20000", "spend press-2"]);
});

test.each([400, 404, 409, 422])(
  "a refusal with status %d gives its record back and holds up no other",
  async (status) => {
    const denied = new kubeErrors.Invalid({ call: "evict", message: "denied" }, { status, reason: "", causes: [] });
    const { told, names, fault } = await wave({
      evict: (name) => (name === "press-2" ? Promise.reject(denied) : Promise.resolve()),
    });
    expect({ names, fault }).toEqual({ names: ["press-1", "press-3"], fault: undefined });
    expect(told).toContain("refund press-2");
  },
);

test.each([408, 500, 504])("status %d leaves open whether the pod was evicted", async (status) => {
  const failed = new kubeErrors.Invalid({ call: "evict", message: "failed" }, { status, reason: "", causes: [] });
  const { told, fault, unclear } = await wave({ evict: () => Promise.reject(failed) });
  expect({ told, fault, unclear }).toEqual({ told: ["spend press-1", "evict press-1"], fault: failed, unclear: 1 });
});

test("a surge restarts the rollout, is recorded like an eviction, and asks no peer", async () => {
  const { told } = await wave({ surges: true, peers: () => Promise.reject(new Error("asked")) });
  expect(told).toEqual(NAMES.flatMap((name) => [`spend ${name}`, `surge ${name}`]));
});

describe("a peer that", () => {
  const saying = (answer: PeerAnswer["answer"]) => () => Promise.resolve([{ peer: "resolver", answer, message: "" }]);
  const only = (name: string) => (name === "press-1" ? {} : undefined);

  test.each(["ready", "notConcerned"] as const)("is %s lets the pods go", async (answer) => {
    expect((await wave({ peers: saying(answer) })).names).toEqual(NAMES);
  });

  test.each([
    ["refused", "PeerRefused"],
    ["working", "PeerWorking"],
  ] as const)("is %s keeps the pod, nothing is spent, and it is released", async (answer, reason) => {
    const { told, reasons, refused } = await wave({ peers: saying(answer) });
    expect(refused.map(({ by }) => by)).toEqual([reason, reason, reason]);
    expect(told).toEqual(NAMES.map((name) => `stays ${name}`));
    expect(new Set(reasons)).toEqual(new Set([reason]));
  });

  test("is away keeps the last ready pod of a workload", async () => {
    const { told, reasons } = await wave({ peers: saying("away"), pods: only });
    expect(told).toEqual(["stays press-1"]);
    expect(reasons).toContain("PeerAway");
  });

  test("is away lets pods go that leave a ready sibling", async () => {
    expect((await wave({ peers: saying("away") })).names).toEqual(NAMES);
  });
});
