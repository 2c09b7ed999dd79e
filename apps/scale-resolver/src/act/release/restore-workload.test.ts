import type { ObjectContext } from "@evenkeel/operator";
import { describe, expect, test } from "@jest/globals";
import type { Binding, TargetRef } from "../../binding.ts";
import { checkout } from "../../testing/quiet-service.ts";
import { TargetNotFound } from "../errors.ts";
import { type FormerWorkload, formerWorkload, RestoreWorkload, type Past } from "./restore-workload.ts";

const target = (name: string): TargetRef => ({ apiVersion: "apps/v1", kind: "Deployment", name });

const binding = (change: Partial<Binding> = {}): Binding => ({ ...checkout, target: target("new"), ...change });

const nothing: Past = { status: undefined, served: undefined, state: undefined };
const asleep: Past["status"] = { scaleTargetRef: target("old"), replicas: 0 };

describe("the workload to restore", () => {
  test("is none while the ElastiService names the same, or if none is recorded", () => {
    expect(formerWorkload(binding(), nothing)).toBeUndefined();
    const status = { scaleTargetRef: target("new"), replicas: 0 };
    expect(formerWorkload(binding(), { ...nothing, status, state: "Zero" })).toBeUndefined();
    expect(formerWorkload(binding(), { ...nothing, served: binding(), state: "Zero" })).toBeUndefined();
  });

  test("is the one that the status names, by a process that remembers nothing, with the replicas of today", () => {
    expect(formerWorkload(binding({ minReplicas: 3 }), { ...nothing, status: asleep })).toEqual({
      ...{ namespace: "shop", target: target("old"), minReplicas: 3, autoscaler: null, asleep: true },
    });
  });

  test("has its own replicas and its own autoscaler where they are remembered", () => {
    const autoscaler = { type: "keda", name: "old" } as const;
    const served = binding({ target: target("old"), minReplicas: 4, autoscaler });
    const past = { status: asleep, served, state: "Zero" } as const;
    expect(formerWorkload(binding({ minReplicas: 2 }), past)).toMatchObject({ minReplicas: 4, autoscaler });
    // The autoscaler that the new workload has sleeps with it.
    expect(formerWorkload(binding({ autoscaler }), past)).toMatchObject({ autoscaler: null });
  });

  test("is none after it was restored, although the cached status still names it", () => {
    expect(formerWorkload(binding(), { status: asleep, served: binding(), state: "Guard" })).toBeUndefined();
  });

  test.each<[string, Past, boolean]>([
    ["was last seen at no replicas", { ...nothing, status: asleep }, true],
    ["ran when it was last seen", { ...nothing, status: { ...asleep, replicas: 2 } }, false],
    ["was never looked at, since it served", { ...nothing, status: { scaleTargetRef: target("old") } }, false],
    [
      "was put to sleep a moment ago, which no status says yet",
      { status: { scaleTargetRef: target("old"), replicas: 1 }, served: undefined, state: "Zero" },
      true,
    ],
    ["is being woken", { ...nothing, served: binding({ target: target("old") }), state: "Wake" }, true],
    ["serves", { ...nothing, served: binding({ target: target("old") }), state: "Serve" }, false],
  ])("is asleep or not: one that %s", (_, past, sleeps) => {
    expect(formerWorkload(binding(), past)?.asleep).toBe(sleeps);
  });
});

describe("handing a workload back", () => {
  const old: FormerWorkload = {
    namespace: "shop",
    target: target("old"),
    minReplicas: 2,
    autoscaler: null,
    asleep: true,
  };
  const done: string[] = [];
  const log = { info: () => undefined, warn: () => undefined };
  const context = { signal: new AbortController().signal, log } as unknown as ObjectContext;
  const restoreWorkload = (wake: () => Promise<"woken" | "awake">) =>
    new RestoreWorkload({
      scales: {
        wake: (namespace, { name }, to) => {
          done.push(`${namespace}/${name} to ${to}`);
          return wake();
        },
      },
      autoscalers: {
        resume: (namespace, { name }, options) => {
          done.push(`${options?.active === true ? "activate" : "resume"} ${namespace}/${name}`);
          return Promise.resolve("resumed" as const);
        },
        allowZero: (namespace, { name }) => {
          done.push(`calm ${namespace}/${name}`);
          return Promise.resolve();
        },
      },
    });
  const run = (former: FormerWorkload, wake = () => Promise.resolve<"woken" | "awake">("woken")) => {
    done.length = 0;
    return restoreWorkload(wake).run(former, context);
  };

  test("wakes it and resumes its autoscaler", async () => {
    const autoscaler = { type: "keda", name: "scaled" } as const;
    await run({ ...old, autoscaler });
    expect(done).toEqual(["shop/old to 2", "activate shop/scaled", "calm shop/scaled"]);
  });

  test("does not wake one that was not asleep, because a user may have scaled it to zero", async () => {
    await run({ ...old, asleep: false });
    expect(done).toEqual([]);
  });

  test("treats a deleted one as restored, and fails if a retry may succeed", async () => {
    await run(old, () => Promise.reject(new TargetNotFound({ kind: "Deployment", target: "shop/old" })));
    await expect(run(old, () => Promise.reject(new Error("reset")))).rejects.toThrow("reset");
  });
});
