import { deployments, endpointSlices } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { eventually, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 30 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const shop = { namespace: "default", name: "shop" };

async function ownSlices() {
  const labelSelector =
    "kubernetes.io/service-name=shop,endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io";
  return (await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector })).items;
}

async function edit(spec: Readonly<Record<string, unknown>>): Promise<void> {
  await world.kube.resource(elastiServices).patch(shop, { type: "merge", body: { spec } });
}

/** A second Deployment behind the Service `shop`. */
async function successor(name: string, replicas: number): Promise<void> {
  const labels = { app: "shop", release: name };
  await world.kube.resource(deployments).create({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace: "default", name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "echo" }] } },
    },
  });
}

/** A service that sleeps, with nothing left of its pods. */
async function asleep(change: Readonly<Record<string, unknown>> = {}) {
  await world.workload("shop");
  world.metric = 0;
  const service = world.serve();
  await world.elasti("shop", change);
  await world.inState("shop", "Zero");
  await world.isEmpty("shop");
  return service;
}

describe("an ElastiService that is given another workload while its own sleeps", () => {
  test("wakes the old one, takes the new one over, and answers whoever waits", async () => {
    await asleep({ minTargetReplicas: 2 });
    await successor("shop-next", 0);
    // Whoever comes now waits until well after the edit.
    const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
    const answers = Array.from({ length: 20 }, (_, index) => world.ask("shop", { method: "POST", path: `/${index}` }));
    await world.inState("shop", "Zero");
    await edit({ scaleTargetRef: { name: "shop-next" }, minTargetReplicas: 1 });
    await eventually(async () => {
      const ready = (await world.get("shop")).status?.conditions?.find(({ type }) => type === "Ready");
      expect(ready).toMatchObject({ reason: "Failed", observedGeneration: 2 });
    });
    expect((await world.get("shop")).status?.scaleTargetRef).toMatchObject({ name: "shop" });
    end();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(world.seen).toHaveLength(20);
    world.metric = 5;
    await eventually(async () => expect(await world.replicas("shop")).toBe(2));
    await eventually(async () => expect(await world.replicas("shop-next")).toBe(1));
    const { status } = await world.inState("shop", "Serve");
    await eventually(async () => {
      expect((await world.get("shop")).status?.scaleTargetRef).toMatchObject({ name: "shop-next" });
    });
    expect(status?.service).toBe("shop");
    expect(await ownSlices()).toEqual([]);
  }, 60_000);

  test("wakes the old one though nobody asks for it, and puts the new one to sleep from then on", async () => {
    await asleep();
    await successor("shop-next", 1);
    world.metric = 5;
    await edit({ scaleTargetRef: { name: "shop-next" } });
    await eventually(async () => expect(await world.replicas("shop")).toBe(1));
    await world.inState("shop", "Serve");
    expect(await world.replicas("shop-next")).toBe(1);
    // The old one is nobody's business any more.
    await world.scale("shop", 0);
    world.metric = 0;
    await eventually(async () => expect(await world.replicas("shop-next")).toBe(0));
    await world.inState("shop", "Zero");
    await world.isEmpty("shop");
    expect((await world.ask("shop")).status).toBe(200);
    expect([await world.replicas("shop"), await world.replicas("shop-next")]).toEqual([0, 1]);
  }, 60_000);

  test("finds the old one after a restart, too", async () => {
    const first = await asleep();
    first.signal("SIGTERM");
    await first.exit;
    await successor("shop-next", 1);
    await edit({ scaleTargetRef: { name: "shop-next" } });
    world.metric = 5;
    world.serve();
    await eventually(async () => expect(await world.replicas("shop")).toBe(1));
    await world.inState("shop", "Serve");
    expect((await world.get("shop")).status?.scaleTargetRef).toMatchObject({ name: "shop-next" });
  }, 60_000);

  test("leaves the old one as its owner set it, if it was awake", async () => {
    await world.workload("shop");
    await successor("shop-next", 1);
    world.serve();
    await world.elasti("shop");
    await world.inState("shop", "Serve");
    await world.scale("shop", 0);
    await edit({ scaleTargetRef: { name: "shop-next" } });
    await eventually(async () => {
      expect((await world.get("shop")).status?.scaleTargetRef).toMatchObject({ name: "shop-next" });
    });
    expect([await world.replicas("shop"), await world.replicas("shop-next")]).toEqual([0, 1]);
  });
});
