import { services } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { metricOf } from "./admin-api.ts";
import { type Answer, ask } from "./ask.ts";
import { times, World } from "./world.ts";

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

test.concurrent("a service that is idle goes to zero, and a request wakes it and is answered", async () => {
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

test.concurrent(
  "a service of any TCP protocol goes to zero, and a connection wakes it and is joined with a pod",
  async () => {
    await world.fallsAsleep("opaque", { hold: { protocol: "tcp" } });
    const answer = await world.ask("opaque", { method: "POST", path: "/buy", body: "one" });
    expect(answer.body).toMatch(/^opaque-\S+ POST \/buy one$/);
    // The resolver adds nothing to bytes that it does not read.
    expect(answer.headers).not.toHaveProperty("x-evenkeel-cold-start");
    expect(await world.replicas("opaque")).toBe(1);
    world.traffic.set("opaque", 5);
    await world.inState("opaque", "Serve");
    await world.isRestored("opaque");
  },
);

test.concurrent(
  "a service is woken by one call, for any number of requests at once and a slow API server",
  async () => {
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
  },
);

test.concurrent("a service that is warm is not redirected: none of its requests reaches the resolver", async () => {
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
  "a service has the resolver's endpoints with conditions, labels, an owner and every port while it sleeps",
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
  "a service that another client scales to zero loses no request, sends none to a removed pod, and is woken by the next",
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

test.concurrent("a service that is deleted while it sleeps is woken, and everything of it is cleaned up", async () => {
  await world.workload("deleted");
  world.traffic.set("deleted", 0);
  await world.elasti("deleted");
  await world.inState("deleted", "Zero");
  await world.delete("deleted");
  await world.isGone("deleted");
  expect(await world.replicas("deleted")).toBe(1);
  expect(await world.ownSlices("deleted")).toEqual([]);
  expect((await world.ask("deleted")).status).toBe(200);
});

/** An ElastiService that selects Services, all of them idle. */
async function selection(world: World, name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  world.traffic.set(name, 0);
  await world.create(name, { cooldownPeriod: 1, quietPeriod: 1, triggers: [world.trigger(name)], ...spec });
}

async function label(world: World, service: string, team: string | null): Promise<void> {
  const body = { metadata: { labels: { team } } };
  await world.kube.resource(services).patch({ namespace: "default", name: service }, { type: "merge", body });
}

async function names(world: World): Promise<readonly string[]> {
  const { items } = await world.kube.resource(elastiServices).list({ namespace: "default" });
  return items.map(({ metadata }) => metadata.name ?? "").sort();
}

test.concurrent(
  "an ElastiService with a selector has each selected Service fall asleep and wake by itself, and releases one that is no longer selected",
  async () => {
    await using world = await World.start();
    world.serve();
    for (const name of ["cart", "search", "login"]) await world.workload(name);
    for (const name of ["cart", "search"]) await label(world, name, "shop");
    await selection(world, "team", { selector: { matchLabels: { team: "shop" } } });
    await world.inState("team-cart", "Zero");
    await world.inState("team-search", "Zero");
    expect(await names(world)).toEqual(["team", "team-cart", "team-search"]);
    await eventually(async () => expect((await world.get("team")).status?.selected).toBe(2));
    expect(await world.replicas("login")).toBe(1);

    expect((await world.ask("cart", { path: "/cart" })).body).toMatch(/^cart-\S+ GET \/cart/);
    expect(await world.replicas("search")).toBe(0);

    await label(world, "search", null);
    await eventually(async () => expect(await names(world)).toEqual(["team", "team-cart"]));
    expect(await world.replicas("search")).toBe(1);
    expect((await world.ask("search")).status).toBe(200);
  },
);

test.concurrent(
  "an ElastiService with a selector that selects all does not manage a Service that another one names, and wakes everything when it is deleted",
  async () => {
    await using world = await World.start();
    world.serve();
    for (const name of ["cart", "search"]) await world.workload(name);
    await world.elasti("search", { triggers: undefined });
    await world.inState("search", "Serve");
    await selection(world, "all", { service: "*" });
    await world.inState("all-cart", "Zero");
    expect(await names(world)).toEqual(["all", "all-cart", "search"]);
    expect(await world.replicas("search")).toBe(1);
    expect((await world.ask("cart")).status).toBe(200);

    // After the other one is deleted, the Service is selected too.
    await world.delete("search");
    await world.inState("all-search", "Zero", 30_000);
    expect(await names(world)).toEqual(["all", "all-cart", "all-search"]);

    await world.inState("all-cart", "Zero");
    await world.delete("all");
    await eventually(async () => expect(await names(world)).toEqual([]));
    for (const name of ["cart", "search"]) {
      expect(await world.replicas(name)).toBe(1);
      expect((await world.ask(name)).status).toBe(200);
    }
  },
);
