import type { Nulled } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import type { AutoscalerRef, Binding, RouteRef, TargetRef } from "../../binding.ts";
import { FINALIZER, type StoredElastiService } from "../../elasti-service-resource.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";
import { checkout, NOON } from "../../testing/quiet-service.ts";
import { stored } from "../../testing/shown-service.ts";
import type { Autoscalers, ResumeOptions } from "../autoscalers.ts";
import { RestoreWorkload } from "./restore-workload.ts";
import { ReleaseService, type ReleaseServiceOptions } from "./release-service.ts";

const deployment = (name: string): TargetRef => ({ apiVersion: "apps/v1", kind: "Deployment", name });
const SETTLE = 2000;
const mesh = (name: string): RouteRef => ({ type: "virtualService", name });

interface World {
  readonly dryRun?: boolean;
  /** Whether the resolver is in the path. */
  readonly joined?: boolean;
  /** Whether the resolver stands by. */
  readonly standby?: boolean;
  /** Pods that are seen as ready. */
  readonly ready?: number;
  /** Replicas of the workload at each call that wakes it; default: as many as pods are ready. */
  readonly replicas?: number[];
  /** Whether the original's operator runs. */
  readonly original?: boolean;
  /** The binding of an older ElastiService for the same Service. */
  readonly older?: Partial<Binding>;
  /** Whether the object stays, and is released by its annotation. */
  readonly stays?: boolean;
}

/** Releases `checkout` with this recorded status, and returns the calls in order. */
async function releaseService(status: ElastiServiceStatus, world: World = {}, change: Partial<Binding> = {}) {
  const { dryRun = false, joined = false, standby = false, ready = 0, original = false, older, stays = false } = world;
  const replicas = world.replicas ?? [];
  const clock = new FakeClock(NOON);
  const done: string[] = [];
  const act = <T>(what: string, outcome: T): Promise<T> => {
    done.push(what);
    return Promise.resolve(outcome);
  };
  const scales = {
    wake: (_: string, { name }: TargetRef) =>
      act(`wake ${name}`, (replicas.shift() ?? ready) > 0 ? ("awake" as const) : ("woken" as const)),
  };
  const autoscalers: Pick<Autoscalers, "resume" | "allowZero"> = {
    resume: (_: string, { name }: AutoscalerRef, options?: ResumeOptions) =>
      act(`${options?.active === true ? "activate" : "resume"} ${name}`, "resumed" as const),
    allowZero: (_: string, { name }: AutoscalerRef) => act(`calm ${name}`, undefined),
  };
  const owner = stored("older", { metadata: { namespace: "shop", name: "older", uid: "older" } });
  const binding = { ...checkout, ...older };
  const going = new ReleaseService({
    elastiServices: { patch: () => act("finalizer", stored("checkout")) },
    bindings: { ownerOf: () => older && owner, understand: () => ({ kind: "service", object: owner, binding }) },
    path: {
      useOf: () => (joined ? "redirect" : standby ? "standby" : undefined),
      leave: () => act("leave path", undefined),
    },
    routes: {
      leave: (
        _: string,
        __: string,
        named: readonly (RouteRef | null | undefined)[],
        { kept }: { kept?: RouteRef },
      ) => {
        for (const route of named) if (route && route.name !== kept?.name) done.push(`put back ${route.name}`);
        return Promise.resolve();
      },
    },
    scales,
    autoscalers,
    leftovers: { clean: () => act("clean", []) },
    restoreWorkload: new RestoreWorkload({ scales, autoscalers }),
    pods: () => ({ ready, leaving: 0, starting: 0 }),
    original: () => Promise.resolve(original ? "it runs" : undefined),
    ...{ clock, settle: SETTLE },
    statuses: {
      write: (_: StoredElastiService, { state, conditions = [] }: Nulled<ElastiServiceStatus>) =>
        act(`status ${state} ${conditions?.map(({ type, status }) => `${type}=${status}`).join(" ")}`, undefined),
    },
    dryRun,
  } as unknown as ReleaseServiceOptions);
  const metadata = {
    ...{ namespace: "shop", name: "checkout", uid: "5a0e", finalizers: [FINALIZER] },
    ...(stays ? {} : { deletionTimestamp: NOON }),
  };
  const object: StoredElastiService = stored("checkout", { metadata, status });
  const log = { info: () => undefined, warn: () => undefined };
  const context = { signal: new AbortController().signal, log } as unknown as ObjectContext;
  const finalize = () => going.finalize(object, { ...checkout, ...change }, context);
  const isGone = (await finalize()) === undefined;
  return { done, isGone, finalize, clock };
}

const ASLEEP: ElastiServiceStatus = { state: "Zero", scaleTargetRef: deployment("checkout"), pausedScaledObject: "" };

describe("an ElastiService that goes", () => {
  test("stays until its workload is awake", async () => {
    expect(await releaseService(ASLEEP, { joined: true })).toMatchObject({ done: ["wake checkout"], isGone: false });
  });

  test("gives its Service back to pods that are ready", async () => {
    expect(await releaseService(ASLEEP, { joined: true, ready: 1 })).toMatchObject({
      done: ["wake checkout", "leave path", "clean", "finalizer"],
      isGone: true,
    });
  });

  test("wakes a workload that was scaled to 0 a moment ago, and waits until its old pods are no longer seen as ready", async () => {
    const world = { joined: true, ready: 1, replicas: [0, 1, 1] };
    const { done, isGone, finalize, clock } = await releaseService(ASLEEP, world);
    expect([done, isGone]).toEqual([["wake checkout"], false]);
    await clock.advance(SETTLE - 1);
    expect(await finalize()).toBeDefined();
    await clock.advance(1);
    expect(await finalize()).toBeUndefined();
    expect(done.slice(-3)).toEqual(["leave path", "clean", "finalizer"]);
  });

  test("does not touch the workload of a Service that is not redirected", async () => {
    const { done } = await releaseService({ state: "Serve" }, { ready: 1, replicas: [0] });
    expect(done).toEqual(["leave path", "clean", "finalizer"]);
  });
});

test("an ElastiService that is released and stays no longer says that it sleeps", async () => {
  const conditions = [
    { type: "Asleep", status: "True", reason: "Zero", message: "", lastTransitionTime: NOON },
  ] as const;
  const { done } = await releaseService({ ...ASLEEP, conditions }, { joined: true, ready: 1, stays: true });
  expect(done).toEqual(["wake checkout", "leave path", "clean", "status null Asleep=False Ready=False", "finalizer"]);
});

test("a ScaledObject stays active until pods are ready, and is then left to its triggers", async () => {
  const status = { ...ASLEEP, pausedScaledObject: "scaled" };
  const autoscaler = { type: "keda", name: "scaled" } as const;
  const waking = await releaseService(status, { joined: true }, { autoscaler });
  expect(waking).toMatchObject({ done: ["activate scaled", "wake checkout", "activate scaled"], isGone: false });
  const awake = await releaseService(status, { joined: true, ready: 1 }, { autoscaler });
  expect(awake.done).toEqual([
    ...["resume scaled", "wake checkout", "activate scaled", "calm scaled"],
    ...["leave path", "clean", "finalizer"],
  ]);
});

test("a ScaledObject that the spec named before may scale to zero again, too", async () => {
  const status = { ...ASLEEP, scaledObject: "former" };
  const { done } = await releaseService(status, { joined: true, ready: 1 });
  expect(done).toEqual(["wake checkout", "calm former", "leave path", "clean", "finalizer"]);
});

describe("in a dry run an ElastiService that goes", () => {
  test.each<[string, ElastiServiceStatus, World]>([
    ["was put to sleep here", ASLEEP, {}],
    ["has the resolver in its path", {}, { joined: true }],
  ])("has its workload woken first if it %s", async (_, status, world) => {
    expect(await releaseService(status, { ...world, dryRun: true })).toMatchObject({
      done: ["wake checkout"],
      isGone: false,
    });
    const awake = await releaseService(status, { ...world, dryRun: true, ready: 1 });
    expect(awake).toMatchObject({ done: ["wake checkout", "leave path", "clean", "finalizer"], isGone: true });
  });

  test("changes nothing if it never was in the path, not even of a workload at zero", async () => {
    const status: ElastiServiceStatus = { state: "Serve", scaleTargetRef: deployment("checkout"), replicas: 0 };
    expect(await releaseService(status, { dryRun: true })).toMatchObject({ done: ["finalizer"], isGone: true });
    const standby = await releaseService(status, { dryRun: true, standby: true });
    expect(standby).toMatchObject({ done: ["leave path", "finalizer"], isGone: true });
  });

  test("is not released while the original's operator runs", async () => {
    expect(await releaseService({}, { dryRun: true, original: true })).toMatchObject({ done: [], isGone: false });
  });
});

describe("an ElastiService that is deleted while another manages its Service", () => {
  test.each([false, true])("takes nothing of it away, nor wakes its workload (dry run: %s)", async (dryRun) => {
    const { done, isGone } = await releaseService({}, { joined: true, older: {}, dryRun });
    expect([done, isGone]).toEqual([["finalizer"], true]);
  });

  test("does not wake a workload that the other names too, and restores nothing that both name", async () => {
    const status = { ...ASLEEP, pausedScaledObject: "both", route: mesh("both") };
    const older = { autoscaler: { type: "keda", name: "both" }, route: mesh("both") } as const;
    expect((await releaseService(status, { joined: true, older })).done).toEqual(["finalizer"]);
  });

  test("restores a workload, a ScaledObject and a route that the other does not name", async () => {
    const status = { ...ASLEEP, pausedScaledObject: "own", route: mesh("own") };
    const older = { target: deployment("basket"), autoscaler: { type: "keda", name: "theirs" } } as const;
    expect((await releaseService(status, { joined: true, older })).done).toEqual([
      ...["put back own", "resume own", "wake checkout", "finalizer"],
    ]);
  });

  test("does not wake a workload that another client scaled to zero", async () => {
    const status: ElastiServiceStatus = { state: "Zero", scaleTargetRef: deployment("checkout"), replicas: 0 };
    const older = { target: deployment("basket") };
    expect((await releaseService(status, { joined: true, older })).done).toEqual(["finalizer"]);
  });

  test("wakes the workload that it named before, unless that is the other's", async () => {
    const status = { ...ASLEEP, scaleTargetRef: deployment("basket"), replicas: 0 };
    const elsewhere = { target: deployment("cellar") };
    expect((await releaseService(status, { older: elsewhere })).done).toContain("wake basket");
    expect((await releaseService(status, { older: { target: deployment("basket") } })).done).toEqual(["finalizer"]);
  });
});
