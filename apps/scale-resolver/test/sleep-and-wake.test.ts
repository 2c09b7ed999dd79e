import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { type Answer, ask, times, World } from "./world.ts";

jest.setTimeout(60_000);

let world: World;
let service: ServiceProcess;
beforeAll(async () => {
  world = await World.start();
  service = world.serve();
  await service.phase("ready");
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

describe("a service", () => {
  test.concurrent("that is idle goes to zero, and a request wakes it and is answered", async () => {
    await world.workload("idle");
    await world.elasti("idle");
    await world.inState("idle", "Serve");
    world.traffic.set("idle", 0);
    const asleep = await world.inState("idle", "Zero");
    expect(await world.replicas("idle")).toBe(0);
    expect(asleep.status).toMatchObject({ mode: "proxy", replicas: 0 });
    expect(asleep.metadata.finalizers).toEqual(["elasti.truefoundry.com/finalizer"]);
    await world.sleeps("idle");

    const answer = await world.ask("idle", { method: "POST", path: "/buy", body: "one" });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/^idle-\S+ POST \/buy one$/);
    expect(answer.headers).toMatchObject({ "x-evenkeel-cold-start": "true" });
    expect(await world.replicas("idle")).toBe(1);
    expect(world.receivedBy("idle")).toHaveLength(1);

    world.traffic.set("idle", 5);
    await world.inState("idle", "Serve");
    await world.isRestored("idle");
    expect(service.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test.concurrent("of any TCP protocol goes to zero, and a connection wakes it and is joined with a pod", async () => {
    await world.fallsAsleep("opaque", { hold: { protocol: "tcp" } });
    const answer = await world.ask("opaque", { method: "POST", path: "/buy", body: "one" });
    expect(answer.body).toMatch(/^opaque-\S+ POST \/buy one$/);
    // The resolver adds nothing to bytes that it does not read.
    expect(answer.headers).not.toHaveProperty("x-evenkeel-cold-start");
    expect(await world.replicas("opaque")).toBe(1);
    world.traffic.set("opaque", 5);
    await world.inState("opaque", "Serve");
    await world.isRestored("opaque");
  });

  test.concurrent("is woken by one call, for any number of requests at once and a slow API server", async () => {
    await world.atZero("burst");
    for (let round = 0; round < 3; round++) {
      await world.sleeps("burst");
      const before = world.scaleCalls("burst");
      const end = world.faults.add({
        fault: { kind: "latency", milliseconds: 40 * round },
        ...{ verb: "patch", resource: "deployments", name: "burst" },
      });
      expect(await world.askAll("burst", 20)).toEqual(times(20, 200));
      await world.inState("burst", "Serve");
      end();
      expect(world.scaleCalls("burst") - before).toBe(1);
      await world.scale("burst", 0);
    }
  });

  test.concurrent("that is warm is not redirected: none of its requests reaches the resolver", async () => {
    await world.atZero("warm");
    expect((await world.ask("warm", { path: "/cold" })).status).toBe(200);
    const { status } = await world.inState("warm", "Serve");
    expect(await world.resolverSlices("warm")).toEqual([]);
    const metrics = await service.url("admin", "/metrics");
    const requests = () => metricOf(metrics, "evenkeel_resolver_requests_total", { service: "warm" });
    await eventually(async () => expect(await requests()).toBe(1));

    for (let sent = 0; sent < 50; sent++) expect((await world.ask("warm", { path: "/warm" })).status).toBe(200);
    expect(world.receivedBy("warm").filter(({ path }) => path === "/warm")).toHaveLength(50);
    // Counters are a moment late: when one that was sent to the resolver itself is counted, so are all before it.
    const port = status?.ports?.[0]?.port ?? 0;
    expect((await ask({ host: "127.0.0.1", port }, { path: "/direct" })).status).toBe(200);
    await eventually(async () => expect(await requests()).toBeGreaterThan(1));
    expect(await requests()).toBe(2);
    expect(await world.resolverSlices("warm")).toEqual([]);
  });

  test.concurrent(
    "has the resolver's endpoints with conditions, labels, an owner and every port while it sleeps",
    async () => {
      await world.workload("slices");
      world.traffic.set("slices", 0);
      const object = await world.elasti("slices");
      const { status } = await world.inState("slices", "Zero");
      const [slice] = await world.resolverSlices("slices");
      expect(slice).toMatchObject({
        addressType: "IPv4",
        metadata: { ownerReferences: [{ kind: "ElastiService", name: "slices", uid: object.metadata.uid }] },
        ports: [{ name: "http", port: status?.ports?.[0]?.port, protocol: "TCP" }],
        endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true, serving: true, terminating: false } }],
      });
    },
  );

  test.concurrent(
    "that another client scales to zero loses no request, sends none to a removed pod, and is woken by the next",
    async () => {
      // Long enough for the resolver to react before the pod is removed, on a busy machine too.
      await using world = await World.start({ terminationDelay: 3000 });
      world.serve();
      await world.workload("shop");
      await world.elasti("shop", { triggers: undefined });
      await world.inState("shop", "Serve");
      await eventually(() => world.ask("shop"));
      world.received.length = 0;
      const stop = new AbortController();
      const answers: Answer[] = [];
      const asking = (async () => {
        // On a slow machine few are asked meanwhile.
        while (!stop.signal.aborted || answers.length <= 10)
          answers.push(await world.ask("shop", { path: `/${answers.length}` }));
      })();
      await world.scale("shop", 0);
      await world.isScaledTo("shop", 1);
      await world.inState("shop", "Serve");
      stop.abort();
      await asking;
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(answers.length).toBeGreaterThan(10);
      expect(world.received.filter(({ late }) => late)).toEqual([]);
    },
  );

  test.concurrent("that is deleted while it sleeps is woken, and everything of it is cleaned up", async () => {
    await world.workload("deleted");
    world.traffic.set("deleted", 0);
    await world.elasti("deleted");
    await world.inState("deleted", "Zero");
    await world.delete("deleted");
    await world.isGone("deleted");
    expect(await world.replicas("deleted")).toBe(1);
    expect(await world.resolverSlices("deleted")).toEqual([]);
    expect((await world.ask("deleted")).status).toBe(200);
  });
});
