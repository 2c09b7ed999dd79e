import { pods } from "@evenkeel/kube";
import { drainV1 } from "@evenkeel/rpc";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis } from "@evenkeel/state-contract";
import { expect, jest, test } from "@jest/globals";
import { peerAt } from "../src/testing/loopback-rpc.ts";
import { call } from "./admin-api.ts";
import { Pair } from "./pair.ts";
import { times, World } from "./world.ts";

jest.setTimeout(60_000);

async function podOf(world: World, app: string) {
  const { items } = await world.kube.resource(pods).list({ namespace: "default", labelSelector: `app=${app}` });
  const { name = "", uid = "" } = items[0]?.metadata ?? {};
  return { namespace: "default", name, uid };
}

test("the last pod of a service may be evicted once requests would be held, and none is lost", async () => {
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

describeRedis("with two replicas, a call to the one that", () => {
  const { PREPARATION_WORKING, PREPARATION_READY, PREPARATION_NOT_CONCERNED } = drainV1.Preparation;

  test("leads, and one to the follower, prepare the last pod of a service and release it", async () => {
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
  });
});
