import { describe, expect, test } from "@jest/globals";
import { type Fields, fieldsOr, omit } from "../json.ts";
import { evictPod } from "../parts/eviction.ts";
import { budgetStatus } from "./budget-status.ts";
import { isReady, statusOf, tables, typeOf } from "./object-state.ts";
import { SmallWorld } from "../testing/small-world.ts";
import { deployments } from "./workloads/deployments.ts";
import { replicaSets } from "./workloads/replica-sets.ts";

const labels = { app: "web" };
const selector = { matchLabels: labels };

/** A Deployment whose pods are all ready, under a budget. */
async function start(replicas: number, budget: Fields): Promise<SmallWorld> {
  const world = new SmallWorld(replicaSets, deployments, budgetStatus);
  const template = { metadata: { labels }, spec: { nodeName: "n", containers: [{ name: "c" }] } };
  world.create(tables.budgets, { metadata: { name: "web" }, spec: omit({ selector, ...budget }) });
  world.create(tables.deployments, { metadata: { name: "web" }, spec: { replicas, selector, template } });
  await world.clock.advance(0);
  for (const { metadata } of world.list(tables.pods)) world.run(metadata.name);
  await world.clock.advance(0);
  return world;
}

const status = (world: SmallWorld): Fields => statusOf(world.get(tables.budgets, "web") ?? ({} as never));
const counts = (world: SmallWorld): unknown[] =>
  ["expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed"].map((field) => status(world)[field]);

describe("the status of disruption budgets", () => {
  test.each([
    [{ minAvailable: 3 }, [5, 5, 3, 2]],
    [{ minAvailable: "50%" }, [5, 5, 3, 2]],
    [{ maxUnavailable: 1 }, [5, 5, 4, 1]],
    [{ maxUnavailable: "50%" }, [5, 5, 2, 3]],
    [{ maxUnavailable: 0 }, [5, 5, 5, 0]],
  ])("counts five ready pods under %p", async (budget, expected) => {
    const world = await start(5, budget);
    expect(counts(world)).toEqual(expected);
    expect(status(world)["observedGeneration"]).toBe(1);
  });

  test("follows pods that are not ready, and the size of their Deployment", async () => {
    const world = await start(4, { maxUnavailable: 2 });
    world.run(world.list(tables.pods)[0]?.metadata.name ?? "", false);
    await world.clock.advance(0);
    expect(counts(world)).toEqual([4, 3, 2, 1]);
    world.update(tables.deployments, "web", ({ spec }) => ({ spec: { ...fieldsOr(spec), replicas: 6 } }));
    await world.clock.advance(0);
    expect(counts(world)).toEqual([6, 3, 4, 0]);
    expect(status(world)["conditions"]).toMatchObject([{ type: "DisruptionAllowed", reason: "InsufficientPods" }]);
  });

  test("allows the next eviction when the pod that went is replaced", async () => {
    const world = await start(3, { maxUnavailable: 1 });
    const evict = (): void => {
      const ready = world.list(tables.pods).find((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined);
      const place = { namespace: "default", name: ready?.metadata.name ?? "" };
      evictPod(world, typeOf(world.types, tables.pods), place, {}, false);
    };
    evict();
    expect(evict).toThrow("disruption budget");
    await world.clock.advance(0);
    expect(status(world)).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 0 });
    expect(status(world)["disruptedPods"]).toBeUndefined();
    for (const pod of world.list(tables.pods)) if (!isReady(pod)) world.run(pod.metadata.name);
    await world.clock.advance(0);
    expect(counts(world)).toEqual([3, 3, 2, 1]);
  });

  test("allows nothing where a pod's controller is unknown and a share is asked for", async () => {
    const world = new SmallWorld(budgetStatus);
    world.create(tables.budgets, { metadata: { name: "web" }, spec: { selector, maxUnavailable: 1 } });
    world.create(tables.pods, { metadata: { name: "p", labels }, spec: { containers: [{ name: "c" }] } });
    world.run("p");
    await world.clock.advance(0);
    expect(status(world)).toMatchObject({ disruptionsAllowed: 0, conditions: [{ reason: "SyncFailed" }] });
  });

  test("chooses all pods of the namespace by an empty selector and none without one", async () => {
    for (const [selected, expected] of [
      [{ selector: {} }, 5],
      [{ selector: undefined }, 0],
    ] as const) {
      const world = await start(5, { minAvailable: 1, ...selected });
      expect(status(world)["currentHealthy"]).toBe(expected);
    }
  });
});
