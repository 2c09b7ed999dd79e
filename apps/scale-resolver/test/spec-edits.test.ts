import { deployments, endpointSlices, events } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { eventually, QUERY, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  // What the definition refuses nobody can store; another release's may let it through.
  world = await World.start({ number: 30, lenient: true });
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

async function edit(spec: unknown): Promise<void> {
  await world.kube.resource(elastiServices).patch(shop, { type: "merge", body: { spec } });
}

/** The condition Ready, once it has that reason. */
async function ready(reason: string) {
  return eventually(async () => {
    const { status } = await world.get("shop");
    const condition = status?.conditions?.find(({ type }) => type === "Ready");
    if (condition?.reason !== reason) throw new Error(JSON.stringify(status));
    return condition;
  });
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
  await world.sleeps("shop");
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
    await eventually(async () => expect(await ready("Failed")).toMatchObject({ observedGeneration: 2 }));
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
    await eventually(async () => expect(await ownSlices()).toEqual([]));
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
    await world.sleeps("shop");
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

describe("a spec that is made invalid while the service sleeps", () => {
  /** No such type of trigger, and more replicas than before. */
  const TYPO = { triggers: [{ type: "promethues", metadata: {} }], minTargetReplicas: 5 };

  test("leaves the last good one in force for requests, says so, and puts nothing to sleep", async () => {
    await asleep({ minTargetReplicas: 2 });
    await edit(TYPO);
    const condition = await ready("InvalidSpec");
    expect(condition).toMatchObject({ status: "False", observedGeneration: 2 });
    expect(condition.message).toMatch(/^The last good spec is in force, .*spec\.triggers\[0\]\.type: /);
    await eventually(async () => {
      const { items } = await world.kube.resource(events).list({ namespace: "default" });
      expect(items).toContainEqual(expect.objectContaining({ reason: "InvalidSpec", type: "Warning" }));
    });
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.ask("shop", { method: "POST" })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await world.replicas("shop")).toBe(2);
    // Its triggers say idle, as they did when it was put to sleep.
    await world.inState("shop", "Serve");
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect((await world.get("shop")).status?.state).toBe("Serve");
    expect(await world.replicas("shop")).toBe(2);
    await ready("InvalidSpec");

    const metadata = { query: QUERY, serverAddress: world.prometheus.url, threshold: "0.5" };
    await edit({ triggers: [{ type: "prometheus", metadata }] });
    await world.sleeps("shop");
    expect((await world.ask("shop")).status).toBe(200);
    expect(await world.replicas("shop")).toBe(5);
  }, 60_000);

  test("while requests wait strands none of them", async () => {
    await asleep();
    const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
    const answers = Array.from({ length: 10 }, () => world.ask("shop"));
    await edit({ service: 7, scaleTargetRef: "shop" });
    await eventually(async () => expect((await world.get("shop")).metadata.generation).toBe(2));
    end();
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]));
    await ready("InvalidSpec");
  }, 60_000);

  test("still wakes by what can be read of it after a restart, and goes without a trace when it is deleted", async () => {
    const first = await asleep({ minTargetReplicas: 2 });
    first.signal("SIGTERM");
    await first.exit;
    await edit({ triggers: "none", minTargetReplicas: 2, scaleTargetRef: null });
    world.serve();
    const condition = await ready("InvalidSpec");
    expect(condition.message).toMatch(/^Requests wake the workload, and nothing else is done, /);
    expect((await world.ask("shop")).status).toBe(200);
    expect(await world.replicas("shop")).toBe(2);
    await world.inState("shop", "Serve");
    await world.scale("shop", 0);
    await world.inState("shop", "Zero");
    await world.kube.resource(elastiServices).delete(shop);
    await eventually(async () => {
      expect((await world.kube.resource(elastiServices).list({ namespace: "default" })).items).toEqual([]);
    });
    expect(await world.replicas("shop")).toBe(2);
    expect(await ownSlices()).toEqual([]);
  }, 60_000);

  test("of which nothing can be read after a restart has requests refused at once, and held again once it is put right", async () => {
    const first = await asleep();
    first.signal("SIGTERM");
    await first.exit;
    const { status } = await world.get("shop");
    const target = { apiVersion: "apps/v1", kind: "Deployment", name: "shop" };
    // As a release left it that did not write the workload down.
    const body = { status: { ...status, scaleTargetRef: null } };
    await world.kube.resource(elastiServices).status.patch(shop, { type: "merge", body });
    await edit({ scaleTargetRef: "shop" });
    world.serve();
    await ready("InvalidSpec");
    const began = performance.now();
    const answer = await eventually(() => world.ask("shop"));
    expect(performance.now() - began).toBeLessThan(2000);
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
    expect(answer.body).toContain("EK_RESOLVER_SPEC_UNREADABLE: default/shop sleeps");
    expect(await world.replicas("shop")).toBe(0);
    await edit({ scaleTargetRef: target });
    await ready("Asleep");
    expect((await world.ask("shop")).status).toBe(200);
  }, 60_000);
});

describe("an ElastiService that selects Services from now on, while its own sleeps", () => {
  test("wakes and gives back the one that it stood for, unless it selects it", async () => {
    await asleep();
    await edit({ service: null, scaleTargetRef: null, selector: { matchLabels: { no: "such" } } });
    await eventually(async () => expect(await world.replicas("shop")).toBe(1));
    await eventually(async () => expect(await ownSlices()).toEqual([]));
    expect((await world.ask("shop")).status).toBe(200);
    await eventually(async () => expect((await world.get("shop")).status).not.toHaveProperty("service"));
    expect(await ready("Selected")).toMatchObject({ status: "True" });
  }, 60_000);

  test("and is deleted before it could give that back goes when it is awake", async () => {
    const first = await asleep();
    first.signal("SIGTERM");
    await first.exit;
    await edit({ service: null, scaleTargetRef: null, selector: { matchLabels: { no: "such" } } });
    await world.kube.resource(elastiServices).delete(shop);
    world.serve();
    await eventually(async () => {
      expect((await world.kube.resource(elastiServices).list({ namespace: "default" })).items).toEqual([]);
    });
    expect(await world.replicas("shop")).toBe(1);
    expect(await ownSlices()).toEqual([]);
    expect((await world.ask("shop")).status).toBe(200);
  }, 60_000);
});

describe("an ElastiService that is paused and pointed at another Service while its own sleeps", () => {
  const annotated = (paused: string | null, spec: unknown = {}) =>
    world.kube.resource(elastiServices).patch(shop, {
      type: "merge",
      body: { metadata: { annotations: { "evenkeel.io/paused": paused } }, spec },
    });

  test("has the old one woken by requests all the same, and gives it back when it is paused no longer", async () => {
    await asleep({ minTargetReplicas: 2 });
    await world.workload("cellar");
    await annotated("true", { service: "cellar", scaleTargetRef: { name: "cellar" } });
    await ready("Paused");
    world.metric = 5;
    expect((await world.ask("shop")).status).toBe(200);
    expect(await world.replicas("shop")).toBe(1);
    expect(await ownSlices()).toHaveLength(1);
    await annotated(null);
    await eventually(async () => expect((await world.get("shop")).status?.service).toBe("cellar"));
    expect(await ownSlices()).toEqual([]);
    expect((await world.ask("shop")).status).toBe(200);
  }, 60_000);
});

describe("an ElastiService whose Service an older one is pointed at while its own workload sleeps", () => {
  test("wakes its workload, which nobody else would, and says who looks after the Service", async () => {
    await world.workload("cellar");
    await world.elasti("cellar", { triggers: undefined });
    // Which one is older is told by the second.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await asleep();
    await successor("shop-next", 1);
    const body = { spec: { service: "shop", scaleTargetRef: { name: "shop-next" } } };
    await world.kube.resource(elastiServices).patch({ ...shop, name: "cellar" }, { type: "merge", body });
    const { message } = await ready("Conflict");
    expect(message).toContain("the ElastiService cellar");
    expect(await world.replicas("shop")).toBe(1);
    expect((await world.get("shop")).status).not.toHaveProperty("service");
    await world.inState("cellar", "Serve");
    await eventually(async () => expect(await ownSlices()).toEqual([]));
    expect((await world.ask("shop")).status).toBe(200);
  }, 60_000);
});
