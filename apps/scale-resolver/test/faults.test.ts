import { deployments, endpointSlices, services } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { metricOf } from "./asking.ts";
import { Link } from "./link.ts";
import { eventually, World } from "./world.ts";

/** The API server is away for a tenth of a minute here: what waits knows no difference, and its own timeouts are all shorter. */
const AWAY = 6000;

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 14 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const shop = { namespace: "default", name: "shop" };

async function ownSlices(service: string) {
  const labelSelector = `kubernetes.io/service-name=${service},endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io`;
  return (await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector })).items;
}

/** The condition Ready of an ElastiService, once it has that reason. */
async function ready(name: string, reason: string) {
  return eventually(async () => {
    const { status } = await world.get(name);
    const condition = status?.conditions?.find(({ type }) => type === "Ready");
    if (condition?.reason !== reason) throw new Error(`${name} is ${JSON.stringify(status)}`);
    return condition;
  });
}

/** A service that sleeps, with nothing left of its pods. */
async function asleep(flags: readonly string[] = [], change: Readonly<Record<string, unknown>> = {}) {
  await world.workload("shop");
  world.metric = 0;
  const service = world.serve(flags);
  await world.elasti("shop", change);
  await world.sleeps("shop");
  return service;
}

describe("an API server that is gone", () => {
  test("when requests come to a service that sleeps keeps them waiting, and none is lost when it is back", async () => {
    await using link = await Link.to(world);
    const service = await asleep([link.flag]);
    link.cut();
    const answers = Array.from({ length: 50 }, (_, index) => world.ask("shop", { method: "POST", path: `/${index}` }));
    await pause(AWAY);
    expect(await world.replicas("shop")).toBe(0);
    expect(world.seen).toEqual([]);
    link.mend();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(world.seen).toHaveLength(50);
    world.metric = 5;
    await world.inState("shop", "Serve");
    expect(service.lines.filter(({ phase }) => phase === "ready")).toHaveLength(1);
  }, 60_000);

  test("when the pod gets ready delays the answers, and loses none", async () => {
    await using link = await Link.to(world);
    await asleep([link.flag]);
    const answers = Array.from({ length: 50 }, (_, index) => world.ask("shop", { path: `/${index}` }));
    await eventually(async () => expect(await world.replicas("shop")).toBe(1));
    link.cut();
    await pause(AWAY);
    link.mend();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
  }, 60_000);

  test("that answers 503, hangs and breaks connections during a wake is asked until it does better", async () => {
    await asleep();
    const ends = [
      world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments", times: 2 }),
      world.faults.add({ fault: { kind: "reset" }, verb: "patch", resource: "deployments", times: 2 }),
      world.faults.add({ fault: { kind: "hang" }, verb: "patch", resource: "deployments", times: 1 }),
    ];
    expect((await world.ask("shop")).status).toBe(200);
    for (const end of ends) end();
    world.metric = 5;
    await world.inState("shop", "Serve");
  }, 60_000);

  test("that has forgotten what was watched is listed anew, and a request wakes the service as ever", async () => {
    await using link = await Link.to(world);
    await asleep([link.flag]);
    world.faults.add({ fault: { kind: "status", code: 410 }, verb: "watch", times: 6 });
    link.break();
    expect((await world.ask("shop")).status).toBe(200);
    world.metric = 5;
    await world.inState("shop", "Serve");
  }, 60_000);
});

describe("the resolver's EndpointSlice", () => {
  test("that somebody deletes while the service sleeps comes back at once", async () => {
    await asleep();
    const [slice] = await ownSlices("shop");
    const { name = "" } = slice?.metadata ?? {};
    await world.kube.resource(endpointSlices).delete({ namespace: "default", name });
    await eventually(async () => {
      const [again] = await ownSlices("shop");
      expect(again?.metadata.uid).toBeDefined();
      expect(again?.metadata.uid).not.toBe(slice?.metadata.uid);
    }, 5000);
    expect((await world.ask("shop")).status).toBe(200);
  });

  test("that somebody else writes to again and again is put right each time", async () => {
    await asleep();
    const [slice] = await ownSlices("shop");
    const { name = "" } = slice?.metadata ?? {};
    const resource = world.kube.resource(endpointSlices);
    const endpoints = [{ addresses: ["127.0.0.9"], conditions: { ready: true } }];
    for (let turn = 0; turn < 5; turn++) {
      await resource.patch({ namespace: "default", name }, { type: "merge", body: { endpoints } });
      await eventually(async () => {
        const [now] = await ownSlices("shop");
        expect(now?.endpoints).toEqual(slice?.endpoints);
      });
    }
    expect((await world.ask("shop")).status).toBe(200);
  });

  test("that cannot be written keeps the service awake, and is written when it can be", async () => {
    await world.workload("shop");
    const end = world.faults.add({ fault: { kind: "status", code: 500 }, verb: "create", resource: "endpointslices" });
    // The API server's own controller writes slices past this.
    await eventually(() => world.ask("shop"));
    world.metric = 0;
    world.serve();
    await world.elasti("shop");
    const condition = await ready("shop", "Failed");
    expect(condition.status).toBe("False");
    expect(await world.replicas("shop")).toBe(1);
    end();
    await world.inState("shop", "Zero", 30_000);
  }, 60_000);
});

describe("a service that sleeps", () => {
  test("whose ElastiService is pointed at another Service is woken and let go", async () => {
    await asleep();
    await world.workload("other");
    const spec = { service: "other", scaleTargetRef: { name: "other" } };
    await world.kube.resource(elastiServices).patch(shop, { type: "merge", body: { spec } });
    await eventually(async () => expect(await world.replicas("shop")).toBe(1));
    await eventually(async () => expect(await ownSlices("shop")).toEqual([]));
    expect((await world.ask("shop")).status).toBe(200);
    await eventually(async () => expect(await world.replicas("other")).toBe(0));
    await world.inState("shop", "Zero");
    expect(await ownSlices("other")).toHaveLength(1);
    expect(await world.replicas("shop")).toBe(1);
    expect((await world.ask("other")).status).toBe(200);
  });

  test("whose Service is deleted and comes back says so, and is woken by the next request", async () => {
    await asleep();
    const resource = world.kube.resource(services);
    const { metadata, spec = {} } = await resource.get(shop);
    await resource.delete(shop);
    const condition = await ready("shop", "ServiceNotFound");
    expect(condition.message).toContain("There is no Service shop");
    await resource.create({
      apiVersion: "v1",
      kind: "Service",
      metadata: { ...shop, labels: metadata.labels ?? {} },
      spec,
    });
    await eventually(async () => expect((await world.ask("shop")).status).toBe(200));
    expect(await world.replicas("shop")).toBe(1);
  });
});

describe("a workload that does not exist", () => {
  test("is named in a condition, costs a request no more than its time, and is found when it comes", async () => {
    await world.workload("shop");
    await world.kube.resource(deployments).delete(shop);
    await world.isEmpty("shop");
    const service = world.serve();
    await world.elasti("shop", { hold: { timeout: "1s" } });
    const condition = await ready("shop", "ReplicasUnknown");
    expect(condition).toMatchObject({ status: "False" });
    expect(condition.message).toContain("Deployment");
    expect(condition.message).toContain("shop");
    const answer = await world.ask("shop");
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBe("5");

    // It is looked for at the pace of the triggers, and not in a circle.
    const metrics = await service.url("admin", "/metrics");
    const before = await metricOf(metrics, "evenkeel_decisions_total");
    await pause(2000);
    expect((await metricOf(metrics, "evenkeel_decisions_total")) - before).toBeLessThan(30);

    await world.kube.resource(deployments).create({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: shop,
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "shop" } },
        template: { metadata: { labels: { app: "shop" } }, spec: { containers: [{ name: "main", image: "echo" }] } },
      },
    });
    await world.inState("shop", "Zero");
    await eventually(async () => expect((await world.ask("shop")).status).toBe(200));
  }, 60_000);
});

describe("a Prometheus that goes away", () => {
  test("while the resolver listens for quiet sends it back to Serve, and nothing is put to sleep", async () => {
    await world.workload("shop");
    world.metric = 0;
    world.serve();
    await world.elasti("shop", { quietPeriod: 4 });
    await world.inState("shop", "Guard");
    await world.prometheus.stop();
    await world.inState("shop", "Serve");
    await ready("shop", "TriggerUnknown");
    await pause(1500);
    expect((await world.get("shop")).status?.state).toBe("Serve");
    expect(await world.replicas("shop")).toBe(1);
  });
});
