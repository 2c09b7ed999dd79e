import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices, PAUSED } from "../src/elasti-service-resource.ts";
import { metricOf } from "./asking.ts";
import { eventually, World } from "./world.ts";

interface ScaledObject extends KubeObject {
  readonly spec?: unknown;
}

const scaledObjects: ResourceTypeOf<ScaledObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

const IS_PAUSED = { "autoscaling.keda.sh/paused": "true", "autoscaling.keda.sh/paused-replicas": "0", team: "shop" };
const GOES_ON = { "autoscaling.keda.sh/paused": "false", team: "shop" };
const UNTOUCHED = { team: "shop" };

const shop = { namespace: "default", name: "shop" };

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 37 });
  world.api.load(await readFile(join(import.meta.dirname, "fixtures/scaledobjects.yaml"), "utf8"));
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** A ScaledObject of somebody else. */
async function scaledObject(name: string): Promise<void> {
  await world.kube.resource(scaledObjects).create({
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { namespace: "default", name, annotations: UNTOUCHED },
    spec: { scaleTargetRef: { name: "shop" }, triggers: [] },
  });
}

async function annotations(name: string): Promise<unknown> {
  return (await world.kube.resource(scaledObjects).get({ namespace: "default", name })).metadata.annotations;
}

async function becomes(name: string, wanted: unknown): Promise<void> {
  await eventually(async () => expect(await annotations(name)).toEqual(wanted));
}

async function edit(spec: unknown): Promise<void> {
  await world.kube.resource(elastiServices).patch(shop, { type: "merge", body: { spec } });
}

async function annotate(value: string | null): Promise<void> {
  const body = { metadata: { annotations: { [PAUSED]: value } } };
  await world.kube.resource(elastiServices).patch(shop, { type: "merge", body });
}

const keda = (name: string) => ({ autoscaler: { type: "keda", name } });

/** A service that sleeps, with `old` paused and `new` not. */
async function asleep(flags: readonly string[] = []) {
  await scaledObject("old");
  await scaledObject("new");
  await world.workload("shop");
  world.metric = 0;
  const service = world.serve(flags);
  await world.elasti("shop", keda("old"));
  await world.sleeps("shop");
  expect(await annotations("old")).toEqual(IS_PAUSED);
  expect((await world.get("shop")).status?.pausedScaledObject).toBe("old");
  return service;
}

/** Wakes the service, and resolves when it serves with nothing paused any more. */
async function wake(): Promise<void> {
  world.metric = 5;
  expect((await world.ask("shop")).status).toBe(200);
  const { status } = await world.inState("shop", "Serve");
  expect(status).not.toHaveProperty("pausedScaledObject");
  expect(await world.replicas("shop")).toBe(1);
}

describe("an ElastiService that is given another autoscaler while its workload sleeps", () => {
  test("resumes the old one, pauses the new one, and resumes that on a wake", async () => {
    await asleep();
    await edit(keda("new"));
    await becomes("old", GOES_ON);
    await becomes("new", IS_PAUSED);
    await eventually(async () => expect((await world.get("shop")).status?.pausedScaledObject).toBe("new"));
    expect(await world.replicas("shop")).toBe(0);
    await wake();
    expect([await annotations("old"), await annotations("new")]).toEqual([GOES_ON, GOES_ON]);
  }, 60_000);

  test("resumes the old one if there is no new one, and pauses one that is named later", async () => {
    await asleep();
    await edit({ autoscaler: null });
    await becomes("old", GOES_ON);
    await eventually(async () => expect((await world.get("shop")).status?.pausedScaledObject).toBe(""));
    expect(await annotations("new")).toEqual(UNTOUCHED);
    await edit(keda("new"));
    await becomes("new", IS_PAUSED);
    await wake();
    expect(await annotations("new")).toEqual(GOES_ON);
  }, 60_000);

  test("resumes the old one though the new one does not exist, which is paused once it does", async () => {
    await asleep();
    await edit(keda("later"));
    await becomes("old", GOES_ON);
    await eventually(async () => expect((await world.get("shop")).status?.pausedScaledObject).toBe("later"));
    await scaledObject("later");
    // Nothing tells of it, so that the next look finds it.
    await edit({ cooldownPeriod: 2 });
    await becomes("later", IS_PAUSED);
    await wake();
    expect(await annotations("later")).toEqual(GOES_ON);
  }, 60_000);

  test("does so after a restart, too", async () => {
    const first = await asleep();
    first.signal("SIGKILL");
    await first.exit;
    await edit(keda("new"));
    world.serve();
    await becomes("old", GOES_ON);
    await becomes("new", IS_PAUSED);
    await wake();
    expect([await annotations("old"), await annotations("new")]).toEqual([GOES_ON, GOES_ON]);
  }, 60_000);

  test("resumes the old one also if it goes itself before anybody has looked", async () => {
    const first = await asleep();
    first.signal("SIGKILL");
    await first.exit;
    await edit(keda("new"));
    await world.kube.resource(elastiServices).delete(shop);
    world.serve();
    await eventually(async () => {
      expect((await world.kube.resource(elastiServices).list({ namespace: "default" })).items).toEqual([]);
    });
    expect(await annotations("old")).toEqual(GOES_ON);
    expect(await world.replicas("shop")).toBe(1);
  }, 60_000);
});

describe("an ElastiService that is paused and pointed at another Service while its own sleeps", () => {
  test("rests until it is not paused any more, and then gives the old Service and its ScaledObject back", async () => {
    await world.workload("other");
    const service = await asleep(["--trigger-interval=5s"]);
    await annotate("true");
    await edit({ service: "other", scaleTargetRef: { name: "other" }, autoscaler: null });
    await eventually(async () => {
      const { status } = await world.get("shop");
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      expect(ready).toMatchObject({ status: "Unknown", reason: "Paused", observedGeneration: 2 });
      expect(ready?.message).toContain("the Service shop is given back without it");
    });
    const metrics = await service.url("admin", "/metrics");
    const turns = () => metricOf(metrics, "controller_runtime_reconcile_total");
    const before = await turns();
    expect(before).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect((await turns()) - before).toBeLessThanOrEqual(1);
    expect([await world.replicas("shop"), await annotations("old")]).toEqual([0, IS_PAUSED]);

    world.metric = 5;
    await annotate(null);
    await eventually(async () => expect(await world.replicas("shop")).toBe(1));
    await becomes("old", GOES_ON);
    await eventually(async () => {
      const { status } = await world.get("shop");
      expect(status).toMatchObject({ service: "other", scaleTargetRef: { name: "other" }, state: "Serve" });
      expect(status).not.toHaveProperty("pausedScaledObject");
    });
  }, 60_000);
});
