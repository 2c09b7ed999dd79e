import { describe, expect, test } from "@jest/globals";
import { type Fields, fieldsOr } from "../../json.ts";
import { controllerOf, statusOf, tables } from "../object-state.ts";
import { SmallWorld } from "../../testing/small-world.ts";
import { replicaSets } from "./replica-sets.ts";

const labels = { app: "web" };
const replicaSet = (replicas: number, spec: Fields = {}): Fields => ({
  metadata: { name: "web" },
  spec: {
    ...{ replicas, selector: { matchLabels: labels } },
    ...{ template: { metadata: { labels }, spec: { containers: [{ name: "c" }] } }, ...spec },
  },
});

async function start(replicas: number, spec: Fields = {}): Promise<SmallWorld> {
  const world = new SmallWorld(replicaSets);
  world.create(tables.replicaSets, replicaSet(replicas, spec));
  await world.clock.advance(0);
  return world;
}

const names = (world: SmallWorld): string[] => world.list(tables.pods).map(({ metadata }) => metadata.name);
const scale = async (world: SmallWorld, replicas: number): Promise<void> => {
  world.update(tables.replicaSets, "web", ({ spec }) => ({ spec: { ...fieldsOr(spec), replicas } }));
  await world.clock.advance(0);
};

describe("ReplicaSets", () => {
  test("have as many pods as they ask for, owned and labelled", async () => {
    const world = await start(3);
    const pods = world.list(tables.pods);
    expect(pods).toHaveLength(3);
    expect(pods.every(({ metadata }) => /^web-[a-z0-9]{5}$/.test(metadata.name))).toBe(true);
    expect(pods.map(({ metadata }) => metadata.labels)).toEqual([labels, labels, labels]);
    expect(pods.map((pod) => controllerOf(pod)?.name)).toEqual(["web", "web", "web"]);
  });

  test("replace a pod that was deleted", async () => {
    const world = await start(2);
    const [first = "", second = ""] = names(world);
    world.delete(tables.pods, first);
    await world.clock.advance(0);
    expect(names(world)).toHaveLength(2);
    expect(names(world)).toContain(second);
    expect(names(world)).not.toContain(first);
  });

  test("lose the pods first that are not ready", async () => {
    const world = await start(3);
    const [first = "", second = "", third = ""] = names(world);
    for (const pod of [first, third]) world.run(pod);
    world.run(second, false);
    await scale(world, 2);
    expect(names(world)).toEqual([first, third]);
  });

  test("lose the newest of pods that are alike", async () => {
    const world = await start(1);
    const [oldest = ""] = names(world);
    await world.clock.advance(5000);
    await scale(world, 3);
    await scale(world, 1);
    expect(names(world)).toEqual([oldest]);
  });

  test("count ready pods at once and available ones when they were ready long enough", async () => {
    const world = await start(2, { minReadySeconds: 10 });
    for (const pod of names(world)) world.run(pod);
    await world.clock.advance(9000);
    const status = (): Fields => statusOf(world.get(tables.replicaSets, "web") ?? fail());
    expect(status()).toEqual({ replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, observedGeneration: 1 });
    await world.clock.advance(1000);
    expect(status()["availableReplicas"]).toBe(2);
  });

  test("make hundreds of pods without holding anybody up for all of them", async () => {
    const world = await start(500);
    expect(names(world)).toHaveLength(500);
    await scale(world, 0);
    expect(names(world)).toHaveLength(0);
  });
});

function fail(): never {
  throw new Error("the ReplicaSet is gone");
}
