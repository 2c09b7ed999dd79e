import { pods } from "@evenkeel/kube";
import { drainV1 } from "@evenkeel/rpc";
import { eventually } from "@evenkeel/runtime/testing";
import { findRedisServer } from "@evenkeel/state-contract";
import { expect, jest, test } from "@jest/globals";
import { peerAt } from "../src/testing/loopback-rpc.ts";
import { call, metricOf } from "./admin-api.ts";
import { Pair } from "./pair.ts";
import { IN_SOAK } from "./soak.ts";
import { times, World } from "./world.ts";

jest.setTimeout(60_000);

const HELD = IN_SOAK ? 500 : 200;

test.concurrent(
  `a resolver that gets SIGTERM with ${HELD} requests held loses none of them: a pod that is ready within the drain answers all`,
  async () => {
    await using world = await World.start();
    const service = world.serve(["--drain-timeout=25s"]);
    await world.atZero("shop");
    // No pod starts before all of them wait.
    const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
    const answers = Array.from({ length: HELD }, (_, index) =>
      world.ask("shop", index % 2 === 0 ? { path: `/${index}` } : { method: "POST", path: `/${index}`, body: "x" }),
    );
    const metrics = await service.url("admin", "/metrics");
    await eventually(async () => {
      expect(await metricOf(metrics, "evenkeel_resolver_pending", { service: "shop" })).toBe(HELD);
    });
    expect(world.received).toEqual([]);
    service.signal("SIGTERM");
    await service.phase("drain");
    end();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(times(HELD, 200));
    expect(new Set(world.received.map(({ path }) => path)).size).toBe(HELD);
    expect(world.received).toHaveLength(HELD);
    expect((await service.exit).code).toBe(0);
  },
);

test.concurrent(
  "a resolver that restarts finds a service that serves, one that sleeps, one that wakes and one whose last pod terminates where they are",
  async () => {
    await using world = await World.start();
    const names = ["serving", "sleeping", "waking", "terminating"];
    for (const name of names) await world.workload(name, name === "sleeping" ? 0 : 1);
    const first = world.serve();
    for (const name of names) await world.elasti(name, { triggers: undefined });
    for (const name of names) await world.inState(name, name === "sleeping" ? "Zero" : "Serve");
    await world.scale("waking", 0);
    await world.inState("waking", "Zero");
    first.signal("SIGTERM");
    await first.exit;
    // Clients of one that sleeps are refused at once.
    const [slice] = await world.resolverSlices("sleeping");
    expect(slice?.endpoints).toMatchObject([{ conditions: { ready: false } }]);
    await expect(world.ask("sleeping")).rejects.toMatchObject({ code: "ECONNRESET" });
    await world.ready("sleeping", "NoResolver");

    // While no resolver runs, one is scaled up, and another one down.
    await world.scale("waking", 1);
    await world.scale("terminating", 0);
    const second = world.serve();
    await second.phase("ready");
    await world.inState("waking", "Serve");
    await world.inState("terminating", "Zero");
    await world.inState("serving", "Serve");
    await world.inState("sleeping", "Zero");
    // None of those that serve was scaled to zero, and none that sleeps was woken.
    const replicas = await Promise.all(names.map((name) => world.replicas(name)));
    expect(Object.fromEntries(names.map((name, index) => [name, replicas[index]]))).toEqual({
      ...{ serving: 1, sleeping: 0, waking: 1, terminating: 0 },
    });
    for (const name of names) {
      const { status } = await eventually(() => world.ask(name, { path: `/${name}` }));
      expect([name, status, await world.replicas(name)]).toEqual([name, 200, 1]);
    }
  },
);

test.concurrent(
  "a resolver that replaces a killed one restores paths of services with ready pods, wakes others on request, and keeps all ports",
  async () => {
    await using world = await World.start();
    await world.workload("guarded");
    world.traffic.set("guarded", 0);
    const first = world.serve(["--pod-name=first"]);
    const names = ["one", "two", "three"];
    await Promise.all(names.map((name) => world.atZero(name)));
    await world.elasti("guarded", { quietPeriod: 600 });
    await world.inState("guarded", "Guard");
    const portsOf = async () =>
      Promise.all(names.map(async (name) => (await world.get(name)).status?.ports?.map(({ port }) => port)));
    const before = await portsOf();
    expect(new Set(before.flat()).size).toBe(3);
    first.signal("SIGKILL");
    await first.exit;
    world.traffic.set("guarded", 5);
    world.serve(["--pod-name=second"]);
    await world.inState("guarded", "Serve");
    await world.isRestored("guarded");
    expect(await world.replicas("guarded")).toBe(1);
    await eventually(async () => expect((await world.ask("two")).status).toBe(200));
    await world.inState("two", "Serve");
    expect(await portsOf()).toEqual(before);
  },
);

/** A replica that listens on one loopback address only. */
function replicaAt(world: World, address: string, flags: readonly string[] = []) {
  return world.serve([`--pod-ip=${address}`, `--listen-host=${address}`, ...flags]);
}

/** A world with the service `shop` asleep, after its resolver at 127.0.0.1 has stopped. */
async function withoutResolver(annotations: Readonly<Record<string, string>> = {}): Promise<World> {
  const world = await World.start();
  const first = replicaAt(world, "127.0.0.1");
  await world.asleep("shop");
  await world.annotate("shop", annotations);
  first.signal("SIGTERM");
  await first.exit;
  expect(await world.redirectedTo("shop")).toEqual(["127.0.0.1"]);
  return world;
}

async function isWokenBy(address: string, world: World, reason: string): Promise<void> {
  await eventually(async () => expect(await world.redirectedTo("shop")).toEqual([address]));
  await world.ready("shop", reason);
  expect(await world.replicas("shop")).toBe(0);
  expect((await world.ask("shop")).status).toBe(200);
  expect(await world.replicas("shop")).toBe(1);
}

test.concurrent(
  "a service that sleeps while the resolver's pod is replaced and that is paused is redirected to the new one, and woken by a request",
  async () => {
    await using world = await withoutResolver({ "evenkeel.io/paused": "true" });
    const second = world.replicaAddress();
    replicaAt(world, second);
    await isWokenBy(second, world, "Paused");
  },
);

test.concurrent(
  "a service that sleeps while the resolver's pod is replaced by one in dry run is redirected to the new one and woken by a request, and no other service is changed",
  async () => {
    await using world = await withoutResolver();
    for (const name of ["idle", "empty"]) {
      world.traffic.set(name, 0);
      await world.workload(name, name === "empty" ? 0 : 1);
    }
    const second = world.replicaAddress();
    replicaAt(world, second, ["--dry-run"]);
    for (const name of ["idle", "empty"]) await world.elasti(name);
    await world.ready("idle", "Idle");
    await world.ready("empty", "NothingServes");
    await isWokenBy(second, world, "Asleep");
    expect([...(await world.ownSlices("idle")), ...(await world.ownSlices("empty"))]).toEqual([]);
    expect([await world.replicas("idle"), await world.replicas("empty")]).toEqual([1, 0]);
  },
);

async function podOf(world: World, app: string) {
  const { items } = await world.kube.resource(pods).list({ namespace: "default", labelSelector: `app=${app}` });
  const { name = "", uid = "" } = items[0]?.metadata ?? {};
  return { namespace: "default", name, uid };
}

test.concurrent("the last pod of a service may be evicted once requests would be held, and none is lost", async () => {
  await using world = await World.start({ startDelay: 800 });
  await world.workload("checkout");
  await world.elasti("checkout");
  await world.workload("other");
  const service = world.serve();
  await world.inState("checkout", "Serve");
  const pod = await podOf(world, "checkout");
  const eviction = { pod, eviction: "node-a drains" };
  const prepare = async (token?: string) =>
    (await call(service, "DrainHook/Prepare", { ...eviction, hold: "60s" }, token)).body;

  expect(await prepare("of nobody")).toMatchObject({ code: "EK_RPC_UNAUTHENTICATED" });
  const other = { pod: await podOf(world, "other"), eviction: "x", hold: "60s" };
  const elsewhere = await call(service, "DrainHook/Prepare", other);
  expect(elsewhere.body).toMatchObject({ preparation: "PREPARATION_NOT_CONCERNED" });

  expect(await prepare()).toMatchObject({ preparation: "PREPARATION_WORKING" });
  await eventually(async () => expect(await prepare()).toMatchObject({ preparation: "PREPARATION_READY" }));
  await world.inState("checkout", "Guard");

  await world.kube.resource(pods).delete({ namespace: "default", name: pod.name });
  expect(await world.askAll("checkout", 20)).toEqual(times(20, 200));

  await world.inState("checkout", "Guard");
  await call(service, "DrainHook/Release", { ...eviction, evicted: true });
  await world.inState("checkout", "Serve");
});

const hasRedis = findRedisServer() !== undefined;
const testRedis = hasRedis ? test.concurrent : test.concurrent.skip;
const NEEDS = hasRedis ? "" : "needs redis-server: ";
const { PREPARATION_WORKING, PREPARATION_READY, PREPARATION_NOT_CONCERNED } = drainV1.Preparation;

testRedis(
  `${NEEDS}with two replicas, a call to the one that leads, and one to the follower, prepare the last pod of a service and release it`,
  async () => {
    await using world = await World.start({ startDelay: 800 });
    await using pair = await Pair.start(world);
    const leader = await pair.leader();
    const prepared = async (name: string, address: string) => {
      await world.workload(name);
      await eventually(() => world.ask(name));
      await world.elasti(name);
      await world.inState(name, "Serve");
      const peer = peerAt(address, "secret");
      const client = peer.client(drainV1.DrainHookDefinition);
      const pod = { ...(await podOf(world, name)), node: "node-a" };
      const eviction = { pod, eviction: "node-a drains" };
      const hold = { seconds: 60n, nanos: 0 };
      const prepare = async () => client.prepare({ ...eviction, hold }, { retry: false });
      const unconcerned = await client.prepare({ ...eviction, pod: { ...pod, uid: "of another" }, hold });
      expect(unconcerned).toMatchObject({ preparation: PREPARATION_NOT_CONCERNED });

      // Never anything but an answer of the leader: without one the call would fail.
      const first = await prepare();
      expect(first).toMatchObject({ preparation: PREPARATION_WORKING, expiresAt: expect.anything() });
      await eventually(async () => expect(await prepare()).toMatchObject({ preparation: PREPARATION_READY }));
      await world.inState(name, "Guard");
      await world.kube.resource(pods).delete({ namespace: "default", name: pod.name });
      expect(await world.askAll(name, 20)).toEqual(times(20, 200));
      await world.inState(name, "Guard");
      await client.release({ ...eviction, evicted: true }, { retry: false });
      await world.inState(name, "Serve");
      peer.stop();
    };
    await Promise.all([
      prepared("by-leader", await pair.listener(leader, "grpc")),
      prepared("by-follower", await pair.listener(pair.other(leader), "grpc")),
    ]);
  },
);
