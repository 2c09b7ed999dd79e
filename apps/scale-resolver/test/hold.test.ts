import { deployments, type KubeObject, type ResourceTypeOf, statefulSets } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { times, World } from "./world.ts";

jest.setTimeout(60_000);

let world: World;
let service: ServiceProcess;
beforeAll(async () => {
  world = await World.start();
  world.api.load(FLEETS);
  service = world.serve();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Keeps a service from waking until it is called. */
const holdWakes = (name: string) =>
  world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments", name });

/** Resolves when so many requests of a service wait. */
async function pending(name: string, count: number): Promise<void> {
  const metrics = await service.url("admin", "/metrics");
  await eventually(async () => {
    expect(await metricOf(metrics, "evenkeel_resolver_pending", { service: name })).toBe(count);
  });
}

describe("a request to a service that sleeps", () => {
  test.concurrent(
    "and wakes for longer than hold.timeout gets 503 with Retry-After, and the pod is there for the next",
    async () => {
      await using world = await World.start({ startDelay: 2000 });
      world.serve();
      await world.atZero("shop", { hold: { timeout: "500ms", retryAfterSeconds: 7 } });
      const refused = await world.ask("shop");
      expect(refused.status).toBe(503);
      expect(refused.headers).toMatchObject({ "retry-after": "7", "x-evenkeel-cold-start": "true" });
      expect(refused.headers["evenkeel-error"]).toBe("EK_RESOLVER_NOT_AWAKE");
      expect(await world.replicas("shop")).toBe(1);
      await world.inState("shop", "Serve");
      expect((await world.ask("shop")).status).toBe(200);
      expect(world.received).toHaveLength(1);
    },
  );

  test.concurrent("with hold.maxPending in use is refused at once, and those before it are answered", async () => {
    await world.atZero("full", { hold: { maxPending: 5 } });
    const end = holdWakes("full");
    const held = world.askAll("full", 5);
    await pending("full", 5);
    const refused = await world.ask("full");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
    expect(world.receivedBy("full")).toEqual([]);
    end();
    expect(await held).toEqual(times(5, 200));
  });

  test.concurrent("gets the placeholder where the queue is full and one is given", async () => {
    const placeholder = { status: 200, body: "<p>One moment", contentType: "text/html" };
    await world.atZero("placeholder", { hold: { maxPending: 1, overflow: "Placeholder", placeholder } });
    const end = holdWakes("placeholder");
    const held = world.ask("placeholder");
    await pending("placeholder", 1);
    const instead = await world.ask("placeholder");
    expect([instead.status, instead.body]).toEqual([200, "<p>One moment"]);
    expect(instead.headers["content-type"]).toBe("text/html");
    end();
    expect((await held).status).toBe(200);
  });

  test.concurrent(
    "that matches a probe rule is answered without a wake, and another one wakes it and says how long it waited",
    async () => {
      const probe = { path: { type: "Exact", value: "/healthz" }, response: { status: 200, body: "asleep" } };
      await world.atZero("probed", { probeResponse: [probe] });
      for (let round = 0; round < 5; round++) {
        const { status, body } = await world.ask("probed", { path: "/healthz" });
        expect([status, body]).toEqual([200, "asleep"]);
      }
      expect(await world.replicas("probed")).toBe(0);
      const { status, headers } = await world.ask("probed", { path: "/buy" });
      expect(status).toBe(200);
      expect(headers["x-evenkeel-cold-start"]).toBe("true");
      // Pods take 300 ms to start.
      expect(Number(headers["x-evenkeel-wait-ms"])).toBeGreaterThanOrEqual(250);
      await world.inState("probed", "Serve");
      const warm = await world.ask("probed", { path: "/healthz" });
      expect(warm.body).toMatch(/^probed-\S+ GET \/healthz/);
      expect(warm.headers["x-evenkeel-cold-start"]).toBeUndefined();
    },
  );

  test.concurrent(
    "that matches a probe rule neither keeps it awake nor wakes it, also while its last pod terminates",
    async () => {
      await using world = await World.start({ terminationDelay: 2000 });
      world.serve();
      await world.workload("shop");
      const probe = { path: { type: "Exact", value: "/healthz" }, response: { status: 200, body: "asleep" } };
      await world.elasti("shop", { probeResponse: [probe] });
      await eventually(() => world.ask("shop"));
      await world.inState("shop", "Serve");
      world.traffic.set("shop", 0);
      let last = "";
      const over = new AbortController();
      const checks = (async () => {
        while (!over.signal.aborted) last = (await world.ask("shop", { path: "/healthz" })).body;
      })();
      await world.sleeps("shop");
      over.abort();
      await checks;
      expect(last).toBe("asleep");
      // It was scaled to zero, and never woken.
      expect(world.scaleCalls("shop")).toBe(1);
    },
  );

  test.concurrent(
    "is answered by no rule whose expression is refused, which a condition says until it is corrected",
    async () => {
      const rule = (value: string) => ({
        path: { type: "RegularExpression", value },
        response: { status: 200, body: "asleep" },
      });
      await world.atZero("refused", { probeResponse: [rule("/healthz(?!/deep)")] });
      const used = (status: "False" | "True") =>
        eventually(async () => {
          const condition = (await world.get("refused")).status?.conditions?.find(
            ({ type }) => type === "ProbeRulesUsed",
          );
          expect(condition?.status).toBe(status);
          return condition?.message;
        });
      expect(await used("False")).toContain("probeResponse[0].path");
      await world.edit("refused", { probeResponse: [rule("^/healthz$")] });
      await used("True");
      expect((await world.ask("refused", { path: "/healthz" })).body).toBe("asleep");
      expect(await world.replicas("refused")).toBe(0);
    },
  );

  test.concurrent("wakes it with minTargetReplicas", async () => {
    await world.atZero("three", { minTargetReplicas: 3 });
    expect((await world.ask("three")).status).toBe(200);
    expect(await world.replicas("three")).toBe(3);
  });

  test.concurrent(
    "wakes it also outside enabledPeriod, which keeps a service awake and is read in its time zone",
    async () => {
      for (const name of ["inside", "outside"]) {
        await world.workload(name);
        world.traffic.set(name, 0);
      }
      // It begins with the current hour in Kathmandu, or with the one in twelve hours; it lasts six either way.
      const there = new Date(Date.now() + (5 * 60 + 45) * 60_000).getUTCHours();
      const period = (hour: number) => ({
        schedule: `0 ${hour % 24} * * *`,
        duration: "6h",
        timeZone: "Asia/Kathmandu",
      });
      await world.elasti("inside", { enabledPeriod: period(there) });
      await world.elasti("outside", { enabledPeriod: period(there + 12) });
      await world.inState("inside", "Zero");
      await world.ready("outside", "OutsidePeriod");
      expect(await world.replicas("outside")).toBe(1);
      expect((await world.ask("inside")).status).toBe(200);
    },
  );

  test.concurrent("wakes it if its workload is a StatefulSet", async () => {
    const at = { namespace: "default", name: "base" };
    await world.workload("base", 0);
    const labels = { app: "base" };
    await world.kube.resource(statefulSets).create({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: at,
      spec: {
        replicas: 1,
        serviceName: "base",
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "echo" }] } },
      },
    });
    world.traffic.set("base", 0);
    await world.elasti("base", { scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "base" } });
    await world.sleeps("base");
    const replicas = async () => (await world.kube.resource(statefulSets).scale.get(at)).spec.replicas ?? 0;
    expect(await replicas()).toBe(0);
    const { status, body } = await world.ask("base");
    expect([status, body.split(" ")[0]]).toEqual([200, "base-0"]);
    expect(await replicas()).toBe(1);
  });

  test.concurrent(
    "wakes it if its workload is of a custom kind with the subresource scale, which a controller of its own follows",
    async () => {
      const at = { namespace: "default", name: "fleet" };
      await world.workload("fleet", 1);
      await eventually(() =>
        world.kube
          .resource(fleets)
          .create({ apiVersion: "example.dev/v1", kind: "Fleet", metadata: at, spec: { replicas: 1 } }),
      );
      const over = new AbortController();
      const controller = (async () => {
        while (!over.signal.aborted) {
          const { spec } = await world.kube.resource(fleets).get(at);
          const now = await world.kube.resource(deployments).get(at);
          const replicas = spec?.replicas ?? 0;
          if (now.spec?.replicas !== replicas) await world.scale("fleet", replicas);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      })();
      world.traffic.set("fleet", 0);
      await world.elasti("fleet", { scaleTargetRef: { apiVersion: "example.dev/v1", kind: "Fleet", name: "fleet" } });
      await world.sleeps("fleet");
      expect((await world.ask("fleet")).status).toBe(200);
      const { spec: woken } = await world.kube.resource(fleets).get(at);
      expect(woken?.replicas).toBe(1);
      over.abort();
      await controller;
    },
  );
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
