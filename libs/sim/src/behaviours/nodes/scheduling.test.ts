import { describe, expect, test } from "@jest/globals";
import { type Fields, fieldsOr } from "../../json.ts";
import { conditionOf, specOf, tables } from "../object-state.ts";
import { SmallWorld } from "../../testing/small-world.ts";
import { scheduling } from "./scheduling.ts";
import { simNode } from "./sim-node.ts";

const pod = (name: string, requests: Fields = {}, spec: Fields = {}): Fields => ({
  metadata: { name },
  spec: { containers: [{ name: "c", resources: { requests } }], ...spec },
});

async function start(nodes: readonly Fields[], pods: readonly Fields[]): Promise<SmallWorld> {
  const world = new SmallWorld(scheduling);
  for (const node of nodes) world.create(tables.nodes, node);
  for (const one of pods) world.create(tables.pods, one);
  await world.clock.advance(0);
  return world;
}

const nodeOf = (world: SmallWorld, name: string): unknown =>
  specOf(world.get(tables.pods, name) ?? ({} as never))["nodeName"];
const condition = (world: SmallWorld, name: string): Fields | undefined =>
  conditionOf(world.get(tables.pods, name) ?? ({} as never), "PodScheduled");
const small = { cpu: "1", memory: "1Gi" };

describe("scheduling", () => {
  test("places a pod where most stays free, and the first by name among equals", async () => {
    const world = await start(
      [simNode("b", small), simNode("a", small), simNode("c", { cpu: "1", memory: "1Gi" })],
      ["1", "2", "3", "4"].map((name) => pod(name, { cpu: "100m", memory: "100Mi" })),
    );
    expect(["1", "2", "3", "4"].map((name) => nodeOf(world, name))).toEqual(["a", "b", "c", "a"]);
    expect(condition(world, "1")).toMatchObject({ status: "True" });
  });

  test.each([
    ["processors", simNode("a", small), pod("p", { cpu: "1001m" }), "1 Insufficient cpu"],
    ["memory", simNode("a", small), pod("p", { memory: "2Gi" }), "1 Insufficient memory"],
    ["seats", simNode("a", { ...small, pods: 0 }), pod("p"), "1 Too many pods"],
    ["a request that can be read", simNode("a", small), pod("p", { cpu: "lots" }), "1 Insufficient cpu"],
    [
      "a node of the selector",
      simNode("a", small),
      pod("p", {}, { nodeSelector: { disk: "ssd" } }),
      "1 node(s) didn't match Pod's node affinity/selector",
    ],
    [
      "a schedulable node",
      { ...simNode("a", small), spec: { unschedulable: true } },
      pod("p"),
      "1 node(s) were unschedulable",
    ],
    ["a ready node", { ...simNode("a", small), status: {} }, pod("p"), "1 node(s) were not ready"],
    [
      "a toleration",
      simNode("a", { ...small, taints: [{ key: "gpu", effect: "NoSchedule" }] }),
      pod("p"),
      "1 node(s) had untolerated taint(s)",
    ],
  ])("leaves a pod pending for lack of %s, and says why", async (_name, node, wanting, why) => {
    const world = await start([node], [wanting]);
    expect(nodeOf(world, "p")).toBeUndefined();
    expect(condition(world, "p")).toMatchObject({
      ...{ status: "False", reason: "Unschedulable", message: `0/1 nodes are available: ${why}.` },
    });
  });

  test("tolerates what the pod says", async () => {
    const taints = [{ key: "gpu", value: "yes", effect: "NoSchedule" }];
    const tolerations = [{ key: "gpu", operator: "Equal", value: "yes" }];
    const world = await start([simNode("a", { ...small, taints })], [pod("p", {}, { tolerations })]);
    expect(nodeOf(world, "p")).toBe("a");
  });

  test("counts a limit as the request that is missing, and init containers by the largest", async () => {
    const limited = { containers: [{ name: "c", resources: { limits: { cpu: "600m" } } }] };
    const prepared = { initContainers: [{ name: "i", resources: { requests: { cpu: "500m" } } }] };
    const world = await start([simNode("a", small)], [pod("1", {}, limited), pod("2", { cpu: "1m" }, prepared)]);
    expect([nodeOf(world, "1"), nodeOf(world, "2")]).toEqual(["a", undefined]);
  });

  test("places a waiting pod when another goes, and when a node comes", async () => {
    const full = { cpu: "1" };
    const world = await start([simNode("a", small)], [pod("1", full), pod("2", full), pod("3", full)]);
    expect([nodeOf(world, "2"), nodeOf(world, "3")]).toEqual([undefined, undefined]);
    world.objects.delete(
      world.types.ofTable(tables.pods) ?? ({} as never),
      { namespace: "default", name: "1" },
      { gracePeriodSeconds: 0 },
    );
    await world.clock.advance(0);
    expect(nodeOf(world, "2")).toBe("a");
    world.create(tables.nodes, simNode("b", small));
    await world.clock.advance(0);
    expect(nodeOf(world, "3")).toBe("b");
  });

  test("gives the room of a pod that has ended to others", async () => {
    const world = await start([simNode("a", small)], [pod("1", { cpu: "1" }), pod("2", { cpu: "1" })]);
    world.update(tables.pods, "1", ({ status }) => ({ status: { ...fieldsOr(status), phase: "Succeeded" } }), "status");
    await world.clock.advance(0);
    expect(nodeOf(world, "2")).toBe("a");
  });

  test("keeps pods apart that say so, and places one once there is a pod that it wants to be with", async () => {
    const term = (app: string): Fields => ({
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app } } },
      ],
    });
    const labelled = (name: string, app: string, affinity: Fields): Fields => ({
      ...pod(name, {}, { affinity }),
      metadata: { name, labels: { app } },
    });
    const apart = (name: string): Fields => labelled(name, "db", { podAntiAffinity: term("db") });
    const world = await start(
      [simNode("a", small), simNode("b", small)],
      [labelled("0", "web", { podAffinity: term("cache") }), apart("1"), apart("2"), apart("3")],
    );
    expect(["0", "1", "2", "3"].map((name) => nodeOf(world, name))).toEqual([undefined, "a", "b", undefined]);
    expect(condition(world, "3")?.["message"]).toContain("2 node(s) didn't match pod anti-affinity rules");
    world.create(tables.pods, labelled("4", "cache", {}));
    await world.clock.advance(0);
    expect(nodeOf(world, "0")).toBe(nodeOf(world, "4"));
  });

  test("spreads the pods of an owner over zones", async () => {
    const zone = (name: string, of: string): Fields =>
      simNode(name, { cpu: "4", memory: "16Gi", labels: { "topology.kubernetes.io/zone": of } });
    const world = await start([zone("a1", "a"), zone("a2", "a"), zone("b1", "b")], []);
    const selector = { matchLabels: { app: "web" } };
    const template = { metadata: { labels: selector.matchLabels }, spec: { containers: [{ name: "c" }] } };
    const owner = world.create(tables.replicaSets, { metadata: { name: "web" }, spec: { selector, template } });
    const ownerReferences = [
      { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: owner.metadata.uid, controller: true },
    ];
    for (const name of ["1", "2"]) {
      world.create(tables.pods, { ...pod(name), metadata: { name, labels: selector.matchLabels, ownerReferences } });
    }
    await world.clock.advance(0);
    expect([nodeOf(world, "1"), nodeOf(world, "2")]).toEqual(["a1", "b1"]);
  });

  test("leaves pods alone that wait for another scheduler or a gate", async () => {
    const world = await start(
      [simNode("a", small)],
      [pod("1", {}, { schedulerName: "mine" }), pod("2", {}, { schedulingGates: [{ name: "wait" }] })],
    );
    expect([nodeOf(world, "1"), nodeOf(world, "2")]).toEqual([undefined, undefined]);
    world.update(tables.pods, "2", ({ spec }) => ({ spec: { ...fieldsOr(spec), schedulingGates: [] } }));
    await world.clock.advance(0);
    expect(nodeOf(world, "2")).toBe("a");
  });
});
