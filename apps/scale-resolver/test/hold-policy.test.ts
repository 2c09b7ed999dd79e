import { deployments, type KubeObject, type ResourceTypeOf, statefulSets } from "@evenkeel/kube";
import { afterEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { metricOf } from "./asking.ts";
import { eventually, World } from "./world.ts";

let world: World;
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A service at 0 replicas, whose pods take `startDelay` to start. */
async function asleep(startDelay: number, change: Readonly<Record<string, unknown>>) {
  world = await World.start({ number: 17, startDelay });
  await world.workload("shop", 0);
  const service = world.serve();
  await world.elasti("shop", change);
  await world.inState("shop", "Zero");
  return service;
}

describe("a request to a service that sleeps", () => {
  test("whose pod takes longer than hold.timeout gets 503 with Retry-After, and the pod is there for the next", async () => {
    await asleep(3000, { hold: { timeout: "500ms", retryAfterSeconds: 7 } });
    const refused = await world.ask("shop");
    expect(refused.status).toBe(503);
    expect(refused.headers).toMatchObject({ "retry-after": "7", "x-evenkeel-cold-start": "true" });
    expect(refused.headers["evenkeel-error"]).toBe("EK_RESOLVER_NOT_AWAKE");
    expect(await world.replicas("shop")).toBe(1);
    await world.inState("shop", "Serve");
    expect((await world.ask("shop")).status).toBe(200);
    expect(world.seen).toHaveLength(1);
  }, 60_000);

  test("that finds hold.maxPending taken is refused at once, and those before it are answered", async () => {
    const service = await asleep(4000, { hold: { maxPending: 5 } });
    const held = Array.from({ length: 5 }, () => world.ask("shop"));
    const metrics = await service.url("admin", "/metrics");
    await eventually(async () => {
      expect(await metricOf(metrics, "evenkeel_resolver_pending", { service: "shop" })).toBe(5);
    });
    const refused = await world.ask("shop");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
    expect(world.seen).toEqual([]);
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  }, 60_000);

  test("gets the placeholder where there is no room and one is given", async () => {
    const placeholder = { status: 200, body: "<p>One moment", contentType: "text/html" };
    const service = await asleep(4000, { hold: { maxPending: 1, overflow: "Placeholder", placeholder } });
    const held = world.ask("shop");
    const metrics = await service.url("admin", "/metrics");
    await eventually(async () => {
      expect(await metricOf(metrics, "evenkeel_resolver_pending", { service: "shop" })).toBe(1);
    });
    const instead = await world.ask("shop");
    expect([instead.status, instead.body]).toEqual([200, "<p>One moment"]);
    expect(instead.headers["content-type"]).toBe("text/html");
    expect((await held).status).toBe(200);
  }, 60_000);

  test("that a probe rule fits is answered without a wake, and another one wakes it and says how long it waited", async () => {
    const probe = { path: { type: "Exact", value: "/healthz" }, response: { status: 200, body: "asleep" } };
    await asleep(500, { probeResponse: [probe] });
    for (let turn = 0; turn < 5; turn++) {
      const { status, body } = await world.ask("shop", { path: "/healthz" });
      expect([status, body]).toEqual([200, "asleep"]);
    }
    expect(await world.replicas("shop")).toBe(0);
    const { status, headers } = await world.ask("shop", { path: "/buy" });
    expect(status).toBe(200);
    expect(headers["x-evenkeel-cold-start"]).toBe("true");
    expect(Number(headers["x-evenkeel-wait-ms"])).toBeGreaterThanOrEqual(400);
    await world.inState("shop", "Serve");
    const warm = await world.ask("shop", { path: "/healthz" });
    expect(warm.body).toMatch(/^shop-\S+ GET \/healthz/);
    expect(warm.headers["x-evenkeel-cold-start"]).toBeUndefined();
  }, 60_000);

  test("that a probe rule fits neither keeps it awake nor wakes it, also while its last pod leaves", async () => {
    world = await World.start({ number: 17, terminationDelay: 2000 });
    await world.workload("shop");
    world.serve();
    const probe = { path: { type: "Exact", value: "/healthz" }, response: { status: 200, body: "asleep" } };
    await world.elasti("shop", { probeResponse: [probe] });
    await eventually(() => world.ask("shop"));
    await world.inState("shop", "Serve");
    world.metric = 0;
    let last = "";
    const over = new AbortController();
    const checks = (async () => {
      while (!over.signal.aborted) last = (await world.ask("shop", { path: "/healthz" })).body;
    })();
    await world.sleeps("shop");
    over.abort();
    await checks;
    expect(last).toBe("asleep");
    // It was put to sleep, and never woken.
    const scaled = world.calls.filter((call) => call.startsWith("PATCH ") && call.endsWith("/deployments/shop/scale"));
    expect(scaled).toHaveLength(1);
  }, 60_000);

  test("is answered by no rule whose expression is refused, which a condition says until it is mended", async () => {
    const rule = (value: string) => ({
      path: { type: "RegularExpression", value },
      response: { status: 200, body: "asleep" },
    });
    world = await World.start({ number: 17 });
    await world.workload("shop", 0);
    world.metric = 0;
    world.serve();
    await world.elasti("shop", { probeResponse: [rule("/healthz(?!/deep)")] });
    await world.inState("shop", "Zero");
    const used = (status: "False" | "True") =>
      eventually(async () => {
        const { conditions } = (await world.get("shop")).status ?? {};
        expect(conditions).toContainEqual(expect.objectContaining({ type: "ProbeRulesUsed", status }));
        return conditions?.find(({ type }) => type === "ProbeRulesUsed")?.message;
      });
    expect(await used("False")).toMatch(/probeResponse\[0\]\.path .* looks around/);
    const body = { spec: { probeResponse: [rule("^/healthz$")] } };
    await world.kube.resource(elastiServices).patch({ namespace: "default", name: "shop" }, { type: "merge", body });
    await used("True");
    expect((await world.ask("shop", { path: "/healthz" })).body).toBe("asleep");
    expect(await world.replicas("shop")).toBe(0);
  });

  test("wakes it with minTargetReplicas", async () => {
    await asleep(300, { minTargetReplicas: 3 });
    expect((await world.ask("shop")).status).toBe(200);
    expect(await world.replicas("shop")).toBe(3);
  });
});

describe("an enabledPeriod", () => {
  test("that is not now keeps a service awake, and one that is now lets it sleep, in a time zone too", async () => {
    world = await World.start({ number: 17 });
    for (const name of ["inside", "outside"]) await world.workload(name);
    world.metric = 0;
    world.serve();
    // It begins with the hour that it is in Kathmandu, or with the one in twelve hours; it lasts six either way.
    const there = new Date(Date.now() + (5 * 60 + 45) * 60_000).getUTCHours();
    const period = (hour: number) => ({ schedule: `0 ${hour % 24} * * *`, duration: "6h", timeZone: "Asia/Kathmandu" });
    await world.elasti("inside", { enabledPeriod: period(there) });
    await world.elasti("outside", { enabledPeriod: period(there + 12) });
    await world.inState("inside", "Zero");
    await eventually(async () => {
      const ready = (await world.get("outside")).status?.conditions?.find(({ type }) => type === "Ready");
      expect(ready?.reason).toBe("OutsidePeriod");
    });
    expect(await world.replicas("outside")).toBe(1);
    // What sleeps is woken at any time.
    expect((await world.ask("inside")).status).toBe(200);
  });
});

describe("a workload that is no Deployment", () => {
  test("but a StatefulSet falls asleep and wakes", async () => {
    world = await World.start({ number: 17 });
    await world.workload("base", 0);
    const labels = { app: "base" };
    const name = { namespace: "default", name: "base" };
    await world.kube.resource(statefulSets).create({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: name,
      spec: {
        replicas: 1,
        serviceName: "base",
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "echo" }] } },
      },
    });
    world.metric = 0;
    world.serve();
    await world.elasti("base", { scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "base" } });
    await world.sleeps("base");
    const replicas = async () => (await world.kube.resource(statefulSets).scale.get(name)).spec.replicas ?? 0;
    expect(await replicas()).toBe(0);
    const { status, body } = await world.ask("base");
    expect([status, body.split(" ")[0]]).toEqual([200, "base-0"]);
    expect(await replicas()).toBe(1);
  });

  test("but of a kind of somebody's own with the part scale, which a controller of his follows, does so as well", async () => {
    world = await World.start({ number: 17 });
    world.api.load(FLEETS);
    await world.workload("shop", 1);
    const name = { namespace: "default", name: "shop" };
    const spec = { replicas: 1 };
    await eventually(() =>
      world.kube.resource(fleets).create({ apiVersion: "example.dev/v1", kind: "Fleet", metadata: name, spec }),
    );
    const over = new AbortController();
    const controller = (async () => {
      while (!over.signal.aborted) {
        const { spec } = await world.kube.resource(fleets).get(name);
        const now = await world.kube.resource(deployments).get(name);
        const replicas = spec?.replicas ?? 0;
        if (now.spec?.replicas !== replicas) await world.scale("shop", replicas);
        await pause(50);
      }
    })();
    world.metric = 0;
    world.serve();
    await world.elasti("shop", { scaleTargetRef: { apiVersion: "example.dev/v1", kind: "Fleet", name: "shop" } });
    await world.sleeps("shop");
    expect((await world.ask("shop")).status).toBe(200);
    const { spec: woken } = await world.kube.resource(fleets).get(name);
    expect(woken?.replicas).toBe(1);
    over.abort();
    await controller;
  });
});

interface Fleet extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

const fleets: ResourceTypeOf<Fleet> = {
  ...{ group: "example.dev", version: "v1", kind: "Fleet", plural: "fleets", namespaced: true },
};

const FLEETS = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: fleets.example.dev }
spec:
  group: example.dev
  scope: Namespaced
  names: { kind: Fleet, plural: fleets, singular: fleet, listKind: FleetList }
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { replicas: { type: integer } } }
            status: { type: object, properties: { replicas: { type: integer } } }
`;
