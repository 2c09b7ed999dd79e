import { connect } from "node:net";
import { once } from "node:events";
import { endpointSlices, services } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { call, metricOf } from "./asking.ts";
import { takeTurns } from "./turns.ts";
import { ask, eventually, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 18 });
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

describe("a Service", () => {
  test("with two ports sleeps behind both, and a request to the second wakes it", async () => {
    await world.workload("shop", 0);
    const ports = [
      { name: "http", port: 8080, targetPort: 8080 },
      { name: "admin", port: 9090, targetPort: 8080 },
    ];
    await world.kube.resource(services).patch(shop, { type: "merge", body: { spec: { ports } } });
    const at = { host: world.clusterAddress("shop"), port: 9090 };
    await world.plane.reach({ node: "cluster", namespace: "default", service: "shop", port: 9090, at });
    world.serve();
    await world.elasti("shop");
    const { status } = await world.inState("shop", "Zero");
    const [slice] = await ownSlices();
    expect(status?.ports?.map(({ name }) => name)).toEqual(["http", "admin"]);
    expect(slice?.ports?.map(({ name, port }) => ({ name, port }))).toEqual(status?.ports);
    expect((await ask(at, { path: "/metrics" })).body).toMatch(/^shop-\S+ GET \/metrics/);
    expect((await world.ask("shop")).status).toBe(200);
  });

  test("that gets another port while it sleeps is reached by it as well", async () => {
    await world.workload("shop", 0);
    world.serve();
    await world.elasti("shop");
    await world.inState("shop", "Zero");
    const ports = [
      { name: "http", port: 8080, targetPort: 8080 },
      { name: "late", port: 9091, targetPort: 8080 },
    ];
    await world.kube.resource(services).patch(shop, { type: "merge", body: { spec: { ports } } });
    const at = { host: world.clusterAddress("shop"), port: 9091 };
    await world.plane.reach({ node: "cluster", namespace: "default", service: "shop", port: 9091, at });
    await eventually(async () => {
      const [slice] = await ownSlices();
      expect(slice?.ports?.map(({ name }) => name)).toEqual(["http", "late"]);
    });
    expect((await ask(at)).status).toBe(200);
  });

  test("of both IP families has an EndpointSlice of each, where the resolver has addresses of both", async () => {
    await world.workload("shop", 0);
    const spec = { ipFamilies: ["IPv4", "IPv6"] };
    await world.kube.resource(services).patch(shop, { type: "merge", body: { spec } });
    world.serve(["--pod-ip=127.0.0.1,::1"]);
    await world.elasti("shop");
    await world.inState("shop", "Zero");
    await eventually(async () => {
      const found = (await ownSlices()).map(({ addressType, endpoints }) => [addressType, endpoints?.[0]?.addresses]);
      expect(found.sort()).toEqual([
        ["IPv4", ["127.0.0.1"]],
        ["IPv6", ["::1"]],
      ]);
    });
  });

  test("without an address of its own is said to be unsupported, and left alone", async () => {
    await world.workload("shop");
    await world.kube.resource(services).delete(shop);
    const labels = { app: "shop" };
    await world.kube.resource(services).create({
      apiVersion: "v1",
      kind: "Service",
      metadata: shop,
      spec: { clusterIP: "None", selector: labels, ports: [{ name: "http", port: 8080, targetPort: 8080 }] },
    });
    world.metric = 0;
    world.serve();
    await world.elasti("shop");
    await eventually(async () => {
      const ready = (await world.get("shop")).status?.conditions?.find(({ type }) => type === "Ready");
      expect(ready).toMatchObject({ status: "False", reason: "Unsupported" });
    });
    expect(await world.replicas("shop")).toBe(1);
    expect(await ownSlices()).toEqual([]);
  });
});

describe("the resolver's part in a path", () => {
  test("is neither removed nor written again by turns that find a service asleep", async () => {
    await world.workload("shop", 0);
    const spec = { ipFamilies: ["IPv4", "IPv6"] };
    await world.kube.resource(services).patch(shop, { type: "merge", body: { spec } });
    world.metric = 0;
    world.serve(["--pod-ip=127.0.0.1,::1"]);
    await world.elasti("shop");
    await world.sleeps("shop");
    // One that was away for a moment has another uid, and one that was written another version.
    const slices = async () =>
      (await ownSlices()).map(({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion }));
    const before = await slices();
    expect(before).toHaveLength(2);
    await takeTurns(world, "shop");
    expect(await slices()).toEqual(before);
  });

  interface Replica {
    readonly address: string;
    readonly ready?: boolean;
    /** It is about to go, and serves until then. */
    readonly leaving?: boolean;
  }

  /** A service that sleeps behind replicas of which the test says which are ready. */
  async function asleepBehindReplicas() {
    const resolver = (replicas: readonly Replica[]) => ({
      endpoints: replicas.map(({ address, ready = true, leaving = false }) => ({
        addresses: [address],
        conditions: { ready: ready && !leaving, serving: ready, terminating: leaving },
      })),
    });
    const own = { namespace: "default", name: "resolver-a" };
    await world.kube.resource(endpointSlices).create({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...own, labels: { "kubernetes.io/service-name": "resolver" } },
      addressType: "IPv4",
      ...resolver([{ address: "127.0.0.1" }]),
      ports: [{ name: "requests", port: 8012, protocol: "TCP" }],
    });
    await world.workload("shop", 0);
    world.metric = 0;
    world.serve(["--resolver-service=resolver"]);
    await world.elasti("shop");
    await world.inState("shop", "Zero");
    return async (...replicas: readonly Replica[]) => {
      await world.kube.resource(endpointSlices).patch(own, { type: "merge", body: resolver(replicas) });
    };
  }

  test("follows its own replicas: those that are ready and stay", async () => {
    const become = await asleepBehindReplicas();
    const led = async () => (await ownSlices()).flatMap(({ endpoints }) => endpoints?.map((one) => one.addresses[0]));
    expect(await led()).toEqual(["127.0.0.1"]);
    await become({ address: "127.0.0.1" }, { address: "127.0.0.2" }, { address: "127.0.0.3", ready: false });
    await eventually(async () => expect(await led()).toEqual(["127.0.0.1", "127.0.0.2"]));
    await become({ address: "127.0.0.1" });
    await eventually(async () => expect(await led()).toEqual(["127.0.0.1"]));
    expect((await world.ask("shop")).status).toBe(200);
  });

  test("is not ready while none of them is, unless the last one leaves and still serves, and is ready again with the first", async () => {
    const become = await asleepBehindReplicas();
    const ready = async () =>
      (await ownSlices()).flatMap(({ endpoints }) =>
        endpoints?.map(({ addresses, conditions }) => [addresses[0], conditions?.ready]),
      );
    await become({ address: "127.0.0.1", leaving: true }, { address: "127.0.0.2", ready: false });
    await takeTurns(world, "shop", 1);
    expect(await ready()).toEqual([["127.0.0.1", true]]);
    await become({ address: "127.0.0.2", ready: false });
    await eventually(async () => expect(await ready()).toEqual([["127.0.0.1", false]]));
    await expect(world.ask("shop")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await world.get("shop")).status?.state).toBe("Zero");
    await become({ address: "127.0.0.1" });
    await eventually(async () => expect(await ready()).toEqual([["127.0.0.1", true]]));
    expect((await world.ask("shop")).status).toBe(200);
  });
});

describe("Resolver.Wake", () => {
  test("wakes a service for who may, and for nobody else", async () => {
    await world.workload("shop", 0);
    const service = world.serve();
    await world.elasti("shop", { triggers: undefined });
    await world.inState("shop", "Zero");
    const message = { service: { namespace: "default", name: "shop" }, reason: "a test asks" };
    expect((await call(service, "Resolver/Wake", message, null)).status).toBe(401);
    expect((await call(service, "Resolver/Wake", message, "nobody's")).status).toBe(401);
    expect(await world.replicas("shop")).toBe(0);
    expect(await call(service, "Resolver/Wake", message)).toMatchObject({ status: 200, body: { woken: true } });
    expect(await world.replicas("shop")).toBe(1);
    await world.inState("shop", "Serve");
    expect(
      (await call(service, "Resolver/Wake", { service: { namespace: "default", name: "none" }, reason: "x" })).status,
    ).toBe(404);
    expect(await metricOf(await service.url("admin", "/metrics"), "evenkeel_resolver_requests_total")).toBe(0);
  });
});

describe("a request that is under way through the resolver", () => {
  test("keeps its service awake though every trigger says idle, and is answered", async () => {
    await world.workload("shop");
    const service = world.serve();
    await world.elasti("shop");
    const { status } = await world.inState("shop", "Serve");
    const port = status?.ports?.[0]?.port ?? 0;
    const client = connect(port, "127.0.0.1");
    await once(client, "connect");
    client.write("POST /long HTTP/1.1\r\nhost: shop\r\ncontent-length: 4\r\n\r\nab");
    const metrics = await service.url("admin", "/metrics");
    await eventually(async () => {
      expect(await metricOf(metrics, "evenkeel_resolver_in_flight", { service: "shop" })).toBe(1);
    });
    world.metric = 0;
    const vetoes = () => metricOf(metrics, "evenkeel_decisions_total", { reason: "InFlight" });
    await eventually(async () => expect(await vetoes()).toBeGreaterThanOrEqual(2));
    expect(await world.replicas("shop")).toBe(1);
    client.write("cd");
    const [answer] = (await once(client, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    client.destroy();
    await world.inState("shop", "Zero");
  });
});
