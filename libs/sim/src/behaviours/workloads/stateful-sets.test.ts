import { describe, expect, test } from "@jest/globals";
import { type Fields, fieldsOr } from "../../json.ts";
import { isReady, specOf, statusOf, tables } from "../object-state.ts";
import { SmallWorld } from "../../testing/small-world.ts";
import { statefulSets } from "./stateful-sets.ts";

const labels = { app: "db" };
const template = (image: string): Fields => ({ metadata: { labels }, spec: { containers: [{ name: "c", image }] } });

async function start(replicas: number, spec: Fields = {}): Promise<SmallWorld> {
  const world = new SmallWorld(statefulSets);
  world.create(tables.statefulSets, {
    metadata: { name: "db" },
    spec: { replicas, selector: { matchLabels: labels }, serviceName: "db", template: template("one"), ...spec },
  });
  await world.clock.advance(0);
  return world;
}

async function change(world: SmallWorld, fields: Fields): Promise<void> {
  world.update(tables.statefulSets, "db", ({ spec }) => ({ spec: { ...fieldsOr(spec), ...fields } }));
  await world.clock.advance(0);
}

/** Lets every pod that is not ready become so. */
async function readyAll(world: SmallWorld): Promise<void> {
  for (const pod of world.list(tables.pods)) if (!isReady(pod)) world.run(pod.metadata.name);
  await world.clock.advance(0);
}

const names = (world: SmallWorld): string[] => world.list(tables.pods).map(({ metadata }) => metadata.name);
const images = (world: SmallWorld): unknown[] =>
  world.list(tables.pods).map((pod) => (specOf(pod)["containers"] as Fields[])[0]?.["image"]);
const status = (world: SmallWorld): Fields => statusOf(world.get(tables.statefulSets, "db") ?? ({} as never));

describe("StatefulSets", () => {
  test("bring up one pod after the other, each when those before it are ready", async () => {
    const world = await start(3);
    expect(names(world)).toEqual(["db-0"]);
    await readyAll(world);
    expect(names(world)).toEqual(["db-0", "db-1"]);
    await readyAll(world);
    await readyAll(world);
    expect(names(world)).toEqual(["db-0", "db-1", "db-2"]);
    expect(status(world)).toMatchObject({ replicas: 3, readyReplicas: 3, updatedReplicas: 3, observedGeneration: 1 });
  });

  test("give each pod its number, host name and revision", async () => {
    const world = await start(1);
    const pod = world.get(tables.pods, "db-0");
    expect(pod?.metadata.labels).toMatchObject({
      "statefulset.kubernetes.io/pod-name": "db-0",
      "apps.kubernetes.io/pod-index": "0",
      "controller-revision-hash": status(world)["updateRevision"],
    });
    expect(pod?.["spec"]).toMatchObject({ hostname: "db-0", subdomain: "db" });
  });

  test("bring up all pods at once where they are managed in parallel", async () => {
    expect(names(await start(3, { podManagementPolicy: "Parallel" }))).toEqual(["db-0", "db-1", "db-2"]);
  });

  test("lose the highest number first", async () => {
    const world = await start(3, { podManagementPolicy: "Parallel" });
    await readyAll(world);
    await change(world, { replicas: 1 });
    expect(names(world)).toEqual(["db-0"]);
  });

  test("give a pod that was deleted its name back", async () => {
    const world = await start(2);
    for (let step = 0; step < 2; step++) await readyAll(world);
    const before = world.get(tables.pods, "db-0")?.metadata.uid;
    world.delete(tables.pods, "db-0");
    await world.clock.advance(0);
    expect(names(world)).toEqual(["db-0", "db-1"]);
    expect(world.get(tables.pods, "db-0")?.metadata.uid).not.toBe(before);
  });

  test("roll to a new template from the highest number down, one by one", async () => {
    const world = await start(3, { podManagementPolicy: "Parallel" });
    await readyAll(world);
    await change(world, { template: template("two") });
    const seen: unknown[] = [images(world)];
    for (let step = 0; step < 3; step++) {
      await readyAll(world);
      seen.push(images(world));
    }
    expect(seen).toEqual([
      ["one", "one", "two"],
      ["one", "two", "two"],
      ["two", "two", "two"],
      ["two", "two", "two"],
    ]);
    const { currentRevision, updateRevision } = status(world);
    expect(currentRevision).toBe(updateRevision);
  });

  test.each([
    ["the partition", { type: "RollingUpdate", rollingUpdate: { partition: 1 } }, ["one", "two"]],
    ["OnDelete", { type: "OnDelete" }, ["one", "one"]],
  ])("leave pods that %s spares", async (_name, updateStrategy, expected) => {
    const world = await start(2, { updateStrategy, podManagementPolicy: "Parallel" });
    await readyAll(world);
    await change(world, { template: template("two") });
    for (let step = 0; step < 3; step++) await readyAll(world);
    expect(images(world)).toEqual(expected);
  });
});
