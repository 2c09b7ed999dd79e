import type { Service } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import { describe, expect, test } from "@jest/globals";
import type { RouteRef } from "../binding.ts";
import { stateDecider } from "../decide/state-decider.ts";
import { type Changes, checkout, NOON, quietService } from "../testing/quiet-service.ts";
import { stored } from "../testing/shown-service.ts";
import { Executor, type ExecutorOptions } from "./executor.ts";
import type { PathInput, PathUse } from "./path-plan.ts";
import { PausedScaledObjects } from "./paused-scaled-objects.ts";

const OLD: RouteRef = { type: "virtualService", name: "old" };
const NEW: RouteRef = { type: "virtualService", name: "new" };

const paused: Changes = { blocked: { reason: "Paused", message: "it is paused" } };
const unsupported: Changes = { blocked: { reason: "Unsupported", message: "it has no TCP port" } };
const beside: Changes = { blocked: { reason: "OriginalRuns", message: "its operator leads" } };

interface Given {
  /** What every call fails with. */
  readonly failure?: Error;
  /** What the resolver's slices of the Service are for. */
  readonly use?: PathUse;
  /** Whether the cluster has Cilium. */
  readonly hasCilium?: boolean;
}

/**
 * Carries out a decision for a service whose object names another route than the redirected one. Returns the calls and
 * the outcome.
 */
async function reconcile(changes: Changes, dryRun = false, { failure, use, hasCilium = false }: Given = {}) {
  const done: string[] = [];
  const act = (what: string) => {
    done.push(what);
    return failure ? Promise.reject(failure) : Promise.resolve();
  };
  // Whatever else is called is not there.
  const executor = new Executor({
    path: {
      useOf: () => use,
      join: ({ resolvers }: PathInput) => act(`lead to ${resolvers.map(({ address }) => address).join()}`),
      standBy: () => act("stand by"),
      withdraw: () => act("withdraw"),
      leave: () => act("leave"),
    },
    routes: {
      join: (_namespace: string, _service: string, { name }: RouteRef) => act(`lead ${name}`),
      leave: () => Promise.resolve(),
    },
    scaledObjects: {
      keep: () => {
        if (failure) done.push("keep the ScaledObject");
        return Promise.resolve();
      },
    },
    leftovers: { clean: () => Promise.resolve([]) },
    resolvers: () => [{ family: "IPv4", address: "10.0.0.1", replica: "a" }],
    mayStandBy: () => Promise.resolve(!hasCilium),
  } as unknown as ExecutorOptions);
  const snapshot = quietService(changes);
  const work = {
    object: stored("checkout", { status: { route: OLD } }),
    service: { metadata: { namespace: "shop", name: "checkout" } } satisfies Service,
    binding: { ...checkout, route: NEW },
    ports: [],
    former: undefined,
    pauses: new PausedScaledObjects({ write: () => Promise.resolve() }),
    since: 0,
    snapshot,
    decision: { ...stateDecider.decide(snapshot), id: "1", at: NOON, dryRun },
  };
  const { signal } = new AbortController();
  const context = { signal, term: { signal } } as unknown as ObjectContext;
  return { done, outcome: await executor.run(work, context) };
}

describe("a path that is laid already", () => {
  test.each<[string, Changes, boolean]>([
    ["the object is paused", paused, false],
    ["the Service has become one that is not supported", unsupported, false],
    ["a dry run is asked for", {}, true],
  ])("is kept up to date, with the redirected route, while %s", async (_, changes, dryRun) => {
    for (const state of ["Guard", "Zero", "Wake"] as const) {
      const { done, outcome } = await reconcile({ ...changes, stage: { state } }, dryRun);
      expect(done).toEqual(["lead to 10.0.0.1", "lead old"]);
      expect(outcome).toEqual({ done: false, isFormerRestored: true, route: OLD });
    }
  });

  test("is not changed while the original's operator runs", async () => {
    for (const dryRun of [false, true]) {
      const { done, outcome } = await reconcile({ ...beside, stage: { state: "Zero" } }, dryRun);
      expect(done).toEqual([]);
      expect(outcome).toEqual({ done: false, isFormerRestored: true, route: OLD });
    }
  });

  test("and cannot be written is reported as the failure", async () => {
    const { outcome } = await reconcile({ ...paused, stage: { state: "Zero" } }, false, {
      failure: new Error("reset"),
    });
    expect(outcome).toMatchObject({ done: false, route: OLD, failure: "reset" });
  });
});

test.each<[string, Changes, boolean]>([
  ["that is paused", paused, false],
  ["in a dry run", {}, true],
])("a service in Serve %s gets no path", async (_, changes, dryRun) => {
  expect((await reconcile({ ...changes, stage: { state: "Serve" } }, dryRun)).done).toEqual([]);
});

describe("while pods serve, the resolver", () => {
  const busy = { verdict: "busy", trigger: "requests", message: "1 is not below 0.5" } as const;
  const serving: Changes = { stage: { state: "Serve" }, triggers: [busy] };
  const settled: Changes = { stage: { state: "Guard", purpose: "safety", since: 0 } };

  test("stands by for the moment in which none is ready, and still does when they have taken over", async () => {
    expect((await reconcile(serving)).done).toEqual(["stand by"]);
    expect((await reconcile({ ...serving, specFault: "it has no trigger" })).done).toEqual(["stand by"]);
    expect(await reconcile(settled)).toMatchObject({ done: ["withdraw"], outcome: { done: true } });
  });

  test("leaves the Service alone where it could not wake the workload, and in a dry run", async () => {
    const lost = { targetFault: "Deployment checkout does not exist" };
    expect((await reconcile({ ...serving, ...lost }, false, { use: "standby" })).done).toEqual(["leave"]);
    expect((await reconcile({ ...serving, ...lost })).done).toEqual([]);
    expect((await reconcile(serving, true, { use: "standby" })).done).toEqual(["leave"]);
    expect((await reconcile({ ...settled, dryRun: true })).done).toEqual(["leave"]);
  });

  test("leaves a Service in a cluster with Cilium, and is no endpoint of it after a redirect", async () => {
    expect((await reconcile(serving, false, { use: "standby", hasCilium: true })).done).toEqual(["leave"]);
    expect((await reconcile(serving, false, { hasCilium: true })).done).toEqual([]);
    expect((await reconcile(settled, false, { hasCilium: true })).done).toEqual(["leave"]);
  });

  test("is no endpoint while the object is paused, so that no request wakes what a person scaled to 0", async () => {
    expect((await reconcile({ ...serving, ...paused }, false, { use: "standby" })).done).toEqual(["leave"]);
    expect((await reconcile({ ...serving, ...paused })).done).toEqual([]);
  });

  test("is no endpoint of a Service that it cannot redirect, also if the Service became so while redirected", async () => {
    expect((await reconcile({ ...serving, ...unsupported }, false, { use: "standby" })).done).toEqual(["leave"]);
    expect((await reconcile({ ...serving, ...unsupported })).done).toEqual([]);
    expect((await reconcile({ ...settled, localOnly: "internalTrafficPolicy is Local" })).done).toEqual(["leave"]);
  });

  test("does not stand by in place of a redirect that failed", async () => {
    const failure = new Error("quota exceeded");
    const { done } = await reconcile({ ...serving, pods: { ready: 0 } }, false, { failure, use: "standby" });
    expect(done).toEqual(["lead to 10.0.0.1", "keep the ScaledObject"]);
  });

  test("does the rest before it stands by, which a quota may refuse", async () => {
    const { done, outcome } = await reconcile(serving, false, { failure: new Error("quota exceeded") });
    expect([done, outcome.failure]).toEqual([["keep the ScaledObject", "stand by"], "quota exceeded"]);
  });
});
