import { describe, expect, test } from "@jest/globals";
import { type Fields, fieldsOr } from "../../json.ts";
import { isReady, specOf, statusOf, tables } from "../object-state.ts";
import { SmallWorld } from "../../testing/small-world.ts";
import { deployments } from "./deployments.ts";
import { replicaSets } from "./replica-sets.ts";

const labels = { app: "web" };
const template = (image: string): Fields => ({ metadata: { labels }, spec: { containers: [{ name: "c", image }] } });

async function start(replicas: number, spec: Fields = {}): Promise<SmallWorld> {
  const world = new SmallWorld(replicaSets, deployments);
  world.create(tables.deployments, {
    metadata: { name: "web" },
    spec: { replicas, selector: { matchLabels: labels }, template: template("one"), ...spec },
  });
  await world.clock.advance(0);
  return world;
}

async function change(world: SmallWorld, fields: Fields): Promise<void> {
  world.update(tables.deployments, "web", ({ spec }) => ({ spec: { ...fieldsOr(spec), ...fields } }));
  await world.clock.advance(0);
}

/** Lets every pod that is not ready become so, one step of the rollout. */
async function readyAll(world: SmallWorld): Promise<void> {
  for (const pod of world.list(tables.pods)) if (!isReady(pod)) world.run(pod.metadata.name);
  await world.clock.advance(0);
}

const images = (world: SmallWorld): unknown[] =>
  world.list(tables.pods).map((pod) => (specOf(pod)["containers"] as Fields[])[0]?.["image"]);
const status = (world: SmallWorld): Fields => statusOf(world.get(tables.deployments, "web") ?? ({} as never));

describe("Deployments", () => {
  test("run by a ReplicaSet that is named by the template", async () => {
    const world = await start(3);
    const [replicaSet] = world.list(tables.replicaSets);
    const hash = replicaSet?.metadata.labels?.["pod-template-hash"] ?? "";
    expect(hash).toMatch(/^[a-z0-9]{10}$/);
    expect(replicaSet?.metadata.name).toBe(`web-${hash}`);
    expect(world.list(tables.pods).map(({ metadata }) => metadata.labels)).toEqual(
      Array.from({ length: 3 }, () => ({ ...labels, "pod-template-hash": hash })),
    );
  });

  test("tell in their status what is there, ready, available and up to date", async () => {
    const world = await start(3);
    expect(status(world)).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      unavailableReplicas: 3,
      updatedReplicas: 3,
    });
    await readyAll(world);
    expect(status(world)).toMatchObject({ readyReplicas: 3, availableReplicas: 3 });
    expect(status(world)["conditions"]).toMatchObject([
      { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
      { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
    ]);
  });

  test("scale without a new ReplicaSet", async () => {
    const world = await start(1);
    await change(world, { replicas: 4 });
    expect([world.list(tables.replicaSets).length, world.list(tables.pods).length]).toEqual([1, 4]);
    await change(world, { replicas: 0 });
    expect([world.list(tables.replicaSets).length, world.list(tables.pods).length]).toEqual([1, 0]);
  });

  test("roll to a new template with no more than 25 % too many or missing at any time", async () => {
    const world = await start(8);
    await readyAll(world);
    let [fewest, most] = [Infinity, 0];
    world.store.listen((table) => {
      if (table.name !== tables.pods) return;
      const pods = world.list(tables.pods);
      fewest = Math.min(fewest, pods.filter(isReady).length);
      most = Math.max(most, pods.length);
    });
    await change(world, { template: template("two") });
    expect(new Set(images(world))).toEqual(new Set(["one", "two"]));
    for (let step = 0; step < 10; step++) await readyAll(world);
    expect(images(world)).toEqual(Array.from({ length: 8 }, () => "two"));
    expect([fewest, most]).toEqual([6, 10]);
    expect(status(world)).toMatchObject({
      observedGeneration: 2,
      replicas: 8,
      updatedReplicas: 8,
      availableReplicas: 8,
    });
  });

  test("stop rolling when the new pods do not become ready", async () => {
    const world = await start(4);
    await readyAll(world);
    await change(world, { template: template("broken") });
    await world.clock.advance(60_000);
    expect(images(world).filter((image) => image === "one")).toHaveLength(3);
  });

  test("go back to the ReplicaSet of a template that they had before, under a new revision", async () => {
    const world = await start(1);
    await readyAll(world);
    for (const image of ["two", "one"]) {
      await change(world, { template: template(image) });
      for (let step = 0; step < 3; step++) await readyAll(world);
    }
    expect(images(world)).toEqual(["one"]);
    expect(world.list(tables.replicaSets)).toHaveLength(2);
    const annotations = world.get(tables.deployments, "web")?.metadata.annotations;
    expect(annotations).toEqual({ "deployment.kubernetes.io/revision": "3" });
  });

  test("keep no more old ReplicaSets than the history asks for", async () => {
    const world = await start(1, { revisionHistoryLimit: 1 });
    for (const image of ["two", "three", "four"]) {
      await readyAll(world);
      await change(world, { template: template(image) });
      for (let step = 0; step < 3; step++) await readyAll(world);
    }
    expect(world.list(tables.replicaSets)).toHaveLength(2);
  });

  test("take all old pods away before new ones come where the strategy is Recreate", async () => {
    const world = await start(2, { strategy: { type: "Recreate" } });
    await readyAll(world);
    let mixed = false;
    world.store.listen(() => (mixed ||= new Set(images(world)).size > 1));
    await change(world, { template: template("two") });
    expect([images(world), mixed]).toEqual([["two", "two"], false]);
  });

  test("scale but do not roll while they are paused", async () => {
    const world = await start(1);
    await change(world, { paused: true, template: template("two"), replicas: 2 });
    expect(images(world)).toEqual(["one", "one"]);
    await change(world, { paused: false });
    expect(world.list(tables.replicaSets)).toHaveLength(2);
  });
});
