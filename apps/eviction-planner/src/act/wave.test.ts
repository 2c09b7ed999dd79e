import { kubeErrors } from "@evenkeel/kube";
import type { Term } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import type { PlanSnapshot } from "../decide/snapshot.ts";
import type { ObservedPod } from "../observe/cluster/observed-pod.ts";
import { sampleMove } from "../testing/sample-plan.ts";
import { runWave } from "./wave.ts";

const NAMES = ["press-1", "press-2", "press-3"];

interface Scene {
  readonly evict?: (name: string) => Promise<void>;
  readonly spend?: () => Promise<void>;
  readonly pods?: (name: string) => Partial<ObservedPod> | undefined;
  readonly lastLook?: () => void;
  readonly age?: number;
}

/** Runs three moves, and tells what was recorded, asked for and taken back. */
async function wave({ evict = () => Promise.resolve(), spend, pods, lastLook = () => undefined, age = 0 }: Scene = {}) {
  const told: string[] = [];
  const clock = new FakeClock();
  const snapshot = {
    at: clock.now() - age,
    cluster: { owners: [] },
    policy: { name: "default" },
  } as unknown as PlanSnapshot;
  const podOf = (name: string) => ({ metadata: { name, uid: `uid-${name}` }, node: "one" }) as unknown as ObservedPod;
  const result = await runWave(
    { moves: NAMES.map(sampleMove) },
    snapshot,
    1000,
    {
      ledger: {
        spend: async ({ pod }) => {
          await spend?.();
          told.push(`spend ${pod}`);
        },
        refund: ({ pod }) => Promise.resolve(void told.push(`refund ${pod}`)),
      },
      podNow: (key) => {
        const name = key.replace("shop/", "");
        const own = pods?.(name);
        return pods !== undefined && own === undefined ? undefined : { ...podOf(name), ...own };
      },
      evict: async ({ name }) => {
        told.push(`evict ${name}`);
        await evict(name);
      },
      clock,
      planTtl: 60_000,
    },
    { lastLook, signal: new AbortController().signal, term: {} as Term },
  );
  return { told, ...result, names: result.evicted.map(({ pod }) => pod.name) };
}

const blocked = () =>
  new kubeErrors.EvictionBlocked(
    { call: "evict pods shop/press-2", message: "budget" },
    { status: 429, reason: "TooManyRequests", causes: [] },
  );

test("each eviction is recorded before its call", async () => {
  const { told, names } = await wave();
  expect(told).toEqual(NAMES.flatMap((name) => [`spend ${name}`, `evict ${name}`]));
  expect(names).toEqual(NAMES);
});

test("a pod that its disruption budget keeps gives its record back and holds up no other", async () => {
  const { told, names, refused } = await wave({
    evict: (name) => (name === "press-2" ? Promise.reject(blocked()) : Promise.resolve()),
  });
  expect(told).toContain("refund press-2");
  expect(names).toEqual(["press-1", "press-3"]);
  expect(refused.map(({ move }) => move.pod.name)).toEqual(["press-2"]);
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
  expect({ told, fault }).toEqual({ told: [], fault: away });
});

test.each([
  ["is gone", () => undefined],
  ["is another of the same name", () => ({ metadata: { name: "x", uid: "other" } })],
  ["moved", () => ({ node: "two" })],
])("a pod that %s since the plan is left alone", async (_what, pods) => {
  const { told, refused } = await wave({ pods });
  expect(told).toEqual([]);
  expect(refused).toHaveLength(3);
});

test("a plan that is too old is dropped", async () => {
  const { told, refused } = await wave({ age: 60_001 });
  expect(told).toEqual([]);
  expect(refused).toHaveLength(1);
});

test("a policy that changes in a wave ends it, and what was not sent is refunded", async () => {
  let looks = 0;
  const overtaken = new kubeErrors.ActOvertaken({ object: "default", why: "changed" });
  const { told, fault } = await wave({
    lastLook: () => {
      looks += 1;
      if (looks === 4) throw overtaken;
    },
  });
  expect(told).toEqual(["spend press-1", "evict press-1", "spend press-2", "refund press-2"]);
  expect(fault).toBe(overtaken);
});
