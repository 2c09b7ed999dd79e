import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type KubeObject, PAUSED, type ResourceTypeOf } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";

import { metricOf } from "./admin-api.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

interface ScaledObject extends KubeObject {
  readonly spec?: unknown;
}

const scaledObjects: ResourceTypeOf<ScaledObject> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};

const IS_PAUSED = { "autoscaling.keda.sh/paused": "true", team: "shop" };
const IS_RESUMED = { "autoscaling.keda.sh/paused": "false", team: "shop" };
const UNTOUCHED = { team: "shop" };

/** A world with KEDA's definition. */
async function start(): Promise<World> {
  const world = await World.start();
  world.api.load(await readFile(join(import.meta.dirname, "fixtures/scaledobjects.yaml"), "utf8"));
  return world;
}

let shared: World;
beforeAll(async () => {
  shared = await start();
  shared.serve();
});
afterAll(async () => {
  await shared[Symbol.asyncDispose]();
});

/** A service that sleeps, and ScaledObjects `<name>-old`, which is paused, and `<name>-new`, which is not. */
class Scene {
  readonly world: World;
  readonly name: string;
  readonly old: string;
  readonly new: string;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.old = `${name}-old`;
    this.new = `${name}-new`;
  }

  static async asleep(world: World, name: string): Promise<Scene> {
    const scene = new Scene(world, name);
    for (const one of [scene.old, scene.new]) await scene.scaledObject(one);
    await world.fallsAsleep(name, { autoscaler: { type: "keda", name: scene.old } });
    expect(await scene.annotations(scene.old)).toEqual(IS_PAUSED);
    expect((await world.get(name)).status?.pausedScaledObject).toBe(scene.old);
    return scene;
  }

  /** A user's ScaledObject. */
  async scaledObject(name: string): Promise<void> {
    await this.world.kube.resource(scaledObjects).create({
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: { namespace: "default", name, annotations: UNTOUCHED },
      spec: { scaleTargetRef: { name: this.name }, triggers: [] },
    });
  }

  async annotations(name: string): Promise<unknown> {
    return (await this.world.kube.resource(scaledObjects).get({ namespace: "default", name })).metadata.annotations;
  }

  async becomes(name: string, wanted: unknown): Promise<void> {
    await eventually(async () => expect(await this.annotations(name)).toEqual(wanted));
  }

  async records(name: string): Promise<void> {
    await eventually(async () => expect((await this.world.get(this.name)).status?.pausedScaledObject).toBe(name));
  }

  async choose(name: string | null): Promise<void> {
    await this.world.edit(this.name, { autoscaler: name === null ? null : { type: "keda", name } });
  }

  /** Wakes the service, and resolves when it serves with nothing paused. */
  async wake(): Promise<void> {
    this.world.traffic.set(this.name, 5);
    expect((await this.world.ask(this.name)).status).toBe(200);
    const { status } = await this.world.inState(this.name, "Serve");
    expect(status).not.toHaveProperty("pausedScaledObject");
    expect(await this.world.replicas(this.name)).toBe(1);
  }
}

describe("an ElastiService that gets another autoscaler while its workload sleeps", () => {
  test.concurrent("resumes the old one, pauses the new one, and resumes that on a wake", async () => {
    const scene = await Scene.asleep(shared, "another");
    await scene.choose(scene.new);
    await scene.becomes(scene.old, IS_RESUMED);
    await scene.becomes(scene.new, IS_PAUSED);
    await scene.records(scene.new);
    expect(await shared.replicas("another")).toBe(0);
    await scene.wake();
    expect([await scene.annotations(scene.old), await scene.annotations(scene.new)]).toEqual([IS_RESUMED, IS_RESUMED]);
  });

  test.concurrent("resumes the old one if there is no new one, and pauses one that is named later", async () => {
    const scene = await Scene.asleep(shared, "none");
    await scene.choose(null);
    await scene.becomes(scene.old, IS_RESUMED);
    await scene.records("");
    expect(await scene.annotations(scene.new)).toEqual(UNTOUCHED);
    await scene.choose(scene.new);
    await scene.becomes(scene.new, IS_PAUSED);
    await scene.wake();
    expect(await scene.annotations(scene.new)).toEqual(IS_RESUMED);
  });

  test.concurrent("resumes the old one though the new one does not exist, which is paused once it does", async () => {
    const scene = await Scene.asleep(shared, "later");
    await scene.choose("created-later");
    await scene.becomes(scene.old, IS_RESUMED);
    await scene.records("created-later");
    await scene.scaledObject("created-later");
    // No watch reports it; the next reconcile finds it.
    await shared.edit("later", { cooldownPeriod: 2 });
    await scene.becomes("created-later", IS_PAUSED);
    await scene.wake();
    expect(await scene.annotations("created-later")).toEqual(IS_RESUMED);
  });

  test.concurrent(
    "does so after a restart, too, and resumes the old one also if it is deleted before the restart",
    async () => {
      await using world = await start();
      const first = world.serve();
      const [edited, deleted] = await Promise.all(["edited", "deleted"].map((name) => Scene.asleep(world, name)));
      if (!edited || !deleted) throw new Error("two scenes are made");
      first.signal("SIGKILL");
      await first.exit;
      for (const scene of [edited, deleted]) await scene.choose(scene.new);
      await world.delete("deleted");
      world.serve();
      await edited.becomes(edited.old, IS_RESUMED);
      await edited.becomes(edited.new, IS_PAUSED);
      await edited.wake();
      for (const one of [edited.old, edited.new]) expect(await edited.annotations(one)).toEqual(IS_RESUMED);

      await world.isGone("deleted");
      expect(await deleted.annotations(deleted.old)).toEqual(IS_RESUMED);
      expect(await world.replicas("deleted")).toBe(1);
    },
  );

  test.concurrent(
    "and another Service while it is paused waits until it is resumed, and then restores the old Service and its ScaledObject",
    async () => {
      await using world = await start();
      const service = world.serve(["--trigger-interval=1s"]);
      await world.workload("other");
      const scene = await Scene.asleep(world, "shop");
      await world.annotate("shop", { [PAUSED]: "true" });
      await world.edit("shop", { service: "other", scaleTargetRef: { name: "other" }, autoscaler: null });
      await eventually(async () => {
        const { status } = await world.get("shop");
        const ready = status?.conditions?.find(({ type }) => type === "Ready");
        expect(ready).toMatchObject({ status: "Unknown", reason: "Paused", observedGeneration: 2 });
        expect(ready?.message).toContain("Service shop");
      });
      const metrics = await service.url("admin", "/metrics");
      const reconciles = () => metricOf(metrics, "controller_runtime_reconcile_total");
      const [before, began] = [await reconciles(), performance.now()];
      expect(before).toBeGreaterThan(0);
      // It is reconciled at the interval of the triggers, and not in a loop: from the first to the third reconcile
      // there are two intervals.
      await eventually(async () => expect((await reconciles()) - before).toBeGreaterThanOrEqual(3));
      expect(performance.now() - began).toBeGreaterThan(1500);
      expect([await world.replicas("shop"), await scene.annotations(scene.old)]).toEqual([0, IS_PAUSED]);

      world.traffic.set("shop", 5);
      await world.annotate("shop", { [PAUSED]: null });
      await world.isScaledTo("shop", 1);
      await scene.becomes(scene.old, IS_RESUMED);
      await eventually(async () => {
        const { status } = await world.get("shop");
        expect(status).toMatchObject({ service: "other", scaleTargetRef: { name: "other" }, state: "Serve" });
        expect(status).not.toHaveProperty("pausedScaledObject");
      });
    },
  );
});
