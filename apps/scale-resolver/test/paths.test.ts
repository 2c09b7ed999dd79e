import { once } from "node:events";
import { connect } from "node:net";
import { endpointSlices, services } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { call, metricOf } from "./admin-api.ts";
import { reconcileAgain } from "./reconciles.ts";
import { ask } from "./ask.ts";
import { World } from "./world.ts";

jest.setTimeout(60_000);

let world: World;
let service: ServiceProcess;
beforeAll(async () => {
  world = await World.start();
  // One of each IP family, for Services of both.
  service = world.serve(["--pod-ip=127.0.0.1,::1"]);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

async function patchService(name: string, spec: unknown): Promise<void> {
  const body = { spec };
  await world.kube.resource(services).patch({ namespace: "default", name }, { type: "merge", body });
}

const port = (name: string, number: number) => ({ name, port: number, targetPort: 8080 });

test.concurrent("a Service with two ports sleeps behind both, and a request to the second wakes it", async () => {
  await world.workload("two-ports", 0);
  await patchService("two-ports", { ports: [port("http", 8080), port("admin", 9090)] });
  const second = await world.reach("two-ports", 9090);
  await world.elasti("two-ports", { triggers: undefined });
  const { status } = await world.inState("two-ports", "Zero");
  const [slice] = await world.resolverSlices("two-ports");
  expect(status?.ports?.map(({ name }) => name)).toEqual(["http", "admin"]);
  expect(slice?.ports?.map(({ name, port }) => ({ name, port }))).toEqual(status?.ports);
  expect((await ask(second, { path: "/metrics" })).body).toMatch(/^two-ports-\S+ GET \/metrics/);
  expect((await world.ask("two-ports")).status).toBe(200);
});

test.concurrent("a Service that gets another port while it sleeps is reached by it as well", async () => {
  await world.atZero("late-port");
  await patchService("late-port", { ports: [port("http", 8080), port("late", 9091)] });
  const late = await world.reach("late-port", 9091);
  await eventually(async () => {
    const [slice] = await world.resolverSlices("late-port");
    expect(slice?.ports?.map(({ name }) => name)).toEqual(["http", "late"]);
  });
  expect((await ask(late)).status).toBe(200);
});

test.concurrent(
  "a Service of both IP families has an EndpointSlice of each, where the resolver has addresses of both",
  async () => {
    await world.workload("families", 0);
    await patchService("families", { ipFamilies: ["IPv4", "IPv6"] });
    await world.elasti("families", { triggers: undefined });
    await world.inState("families", "Zero");
    await eventually(async () => {
      const slices = await world.resolverSlices("families");
      const found = slices.map(({ addressType, endpoints }) => [addressType, endpoints?.[0]?.addresses]);
      expect(found.sort()).toEqual([
        ["IPv4", ["127.0.0.1"]],
        ["IPv6", ["::1"]],
      ]);
    });
  },
);

test.concurrent("a Service without an address of its own is reported as unsupported, and left alone", async () => {
  const at = { namespace: "default", name: "headless" };
  await world.workload("headless");
  await world.kube.resource(services).delete(at);
  await world.kube.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: at,
    spec: { clusterIP: "None", selector: { app: "headless" }, ports: [port("http", 8080)] },
  });
  world.traffic.set("headless", 0);
  await world.elasti("headless");
  expect(await world.ready("headless", "Unsupported")).toMatchObject({ status: "False" });
  expect(await world.replicas("headless")).toBe(1);
  expect(await world.ownSlices("headless")).toEqual([]);
});

test.concurrent(
  "a Service that sleeps has EndpointSlices that later reconciles neither remove nor write again",
  async () => {
    await world.workload("settled", 0);
    await patchService("settled", { ipFamilies: ["IPv4", "IPv6"] });
    await world.elasti("settled", { triggers: undefined });
    await world.sleeps("settled");
    // One that was created again has another uid, and one that was written another version.
    const slices = async () =>
      (await world.resolverSlices("settled")).map(({ metadata: { name, uid, resourceVersion } }) => ({
        ...{ name, uid, resourceVersion },
      }));
    const before = await slices();
    expect(before).toHaveLength(2);
    await reconcileAgain(world, "settled");
    expect(await slices()).toEqual(before);
  },
);

test.concurrent("a Service is woken by Resolver.Wake for a caller with the right token only", async () => {
  await world.atZero("called");
  const message = { service: { namespace: "default", name: "called" }, reason: "a test" };
  expect((await call(service, "Resolver/Wake", message, null)).status).toBe(401);
  expect((await call(service, "Resolver/Wake", message, "nobody's")).status).toBe(401);
  expect(await world.replicas("called")).toBe(0);
  expect(await call(service, "Resolver/Wake", message)).toMatchObject({ status: 200, body: { woken: true } });
  expect(await world.replicas("called")).toBe(1);
  await world.inState("called", "Serve");
  const unknown = { service: { namespace: "default", name: "none" }, reason: "a test" };
  expect((await call(service, "Resolver/Wake", unknown)).status).toBe(404);
  const metrics = await service.url("admin", "/metrics");
  expect(await metricOf(metrics, "evenkeel_resolver_requests_total", { service: "called" })).toBe(0);
});

test.concurrent(
  "a Service with a request in flight through the resolver stays awake though every trigger reads idle",
  async () => {
    await world.workload("in-flight");
    await world.elasti("in-flight");
    const { status } = await world.inState("in-flight", "Serve");
    const client = connect(status?.ports?.[0]?.port ?? 0, "127.0.0.1");
    await once(client, "connect");
    client.write("POST /long HTTP/1.1\r\nhost: shop\r\ncontent-length: 4\r\n\r\nab");
    const metrics = await service.url("admin", "/metrics");
    await eventually(async () => {
      expect(await metricOf(metrics, "evenkeel_resolver_in_flight", { service: "in-flight" })).toBe(1);
    });
    world.traffic.set("in-flight", 0);
    const vetoes = () => metricOf(metrics, "evenkeel_decisions_total", { reason: "InFlight" });
    await eventually(async () => expect(await vetoes()).toBeGreaterThanOrEqual(2));
    expect(await world.replicas("in-flight")).toBe(1);
    client.write("cd");
    const [answer] = (await once(client, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    client.destroy();
    await world.inState("in-flight", "Zero");
  },
);

interface Replica {
  readonly address: string;
  readonly ready?: boolean;
  /** It serves until it is removed. */
  readonly terminating?: boolean;
}

/** A sleeping service. The test sets which replicas of the resolver are ready. */
class Scene implements AsyncDisposable {
  readonly world: World;

  private constructor(world: World) {
    this.world = world;
  }

  static async start(): Promise<Scene> {
    const scene = new Scene(await World.start());
    const { world } = scene;
    await world.kube.resource(endpointSlices).create({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...OWN, labels: { "kubernetes.io/service-name": "resolver" } },
      addressType: "IPv4",
      ...endpointsOf([{ address: "127.0.0.1" }]),
      ports: [{ name: "requests", port: 8012, protocol: "TCP" }],
    });
    world.serve(["--resolver-service=resolver"]);
    await world.atZero("shop");
    return scene;
  }

  async become(...replicas: readonly Replica[]): Promise<void> {
    const body = endpointsOf(replicas);
    await this.world.kube.resource(endpointSlices).patch(OWN, { type: "merge", body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

const OWN = { namespace: "default", name: "resolver-a" };

const endpointsOf = (replicas: readonly Replica[]) => ({
  endpoints: replicas.map(({ address, ready = true, terminating = false }) => ({
    addresses: [address],
    conditions: { ready: ready && !terminating, serving: ready, terminating },
  })),
});

test.concurrent(
  "the EndpointSlice of a Service that sleeps follows the resolver's replicas: those that are ready and do not terminate",
  async () => {
    await using scene = await Scene.start();
    const { world } = scene;
    expect(await world.redirectedTo("shop")).toEqual(["127.0.0.1"]);
    await scene.become({ address: "127.0.0.1" }, { address: "127.0.0.2" }, { address: "127.0.0.3", ready: false });
    await eventually(async () => expect(await world.redirectedTo("shop")).toEqual(["127.0.0.1", "127.0.0.2"]));
    await scene.become({ address: "127.0.0.1" });
    await eventually(async () => expect(await world.redirectedTo("shop")).toEqual(["127.0.0.1"]));
    expect((await world.ask("shop")).status).toBe(200);
  },
);

test.concurrent(
  "the EndpointSlice of a Service that sleeps is not ready while none of them is, unless the last one terminates and still serves, and is ready again with the first",
  async () => {
    await using scene = await Scene.start();
    const { world } = scene;
    const ready = async () =>
      (await world.resolverSlices("shop")).flatMap(({ endpoints }) =>
        endpoints?.map(({ addresses, conditions }) => [addresses[0], conditions?.ready]),
      );
    await scene.become({ address: "127.0.0.1", terminating: true }, { address: "127.0.0.2", ready: false });
    await reconcileAgain(world, "shop", 1);
    expect(await ready()).toEqual([["127.0.0.1", true]]);
    await scene.become({ address: "127.0.0.2", ready: false });
    await eventually(async () => expect(await ready()).toEqual([["127.0.0.1", false]]));
    await expect(world.ask("shop")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await world.get("shop")).status?.state).toBe("Zero");
    await scene.become({ address: "127.0.0.1" });
    await eventually(async () => expect(await ready()).toEqual([["127.0.0.1", true]]));
    expect((await world.ask("shop")).status).toBe(200);
  },
);
