import { pods } from "@evenkeel/kube";
import { drainV1 } from "@evenkeel/rpc";
import { describeRedis } from "@evenkeel/state-contract";
import { expect, test } from "@jest/globals";
import { peerAt } from "../src/testing/loopback-rpc.ts";
import { all, PairScene } from "./pair-scene.ts";
import { eventually, World } from "./world.ts";

interface Answer {
  readonly preparation?: string;
  readonly message?: string;
  readonly code?: string;
}

async function podOf(world: World, app: string) {
  const { items } = await world.kube.resource(pods).list({ namespace: "default", labelSelector: `app=${app}` });
  const { name = "", uid = "" } = items[0]?.metadata ?? {};
  return { namespace: "default", name, uid };
}

test("the last pod of a service may be evicted once requests would be held, and none is lost", async () => {
  await using world = await World.start({ number: 22, startDelay: 800 });
  await world.workload("checkout");
  await world.elasti("checkout");
  await world.workload("other");
  const service = world.serve();
  await world.inState("checkout", "Serve");
  const call = async (method: string, request: unknown, token = "secret"): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const address = await service.url("admin", `/api/v1/DrainHook/${method}`);
    const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(request) });
    return (await response.json()) as Answer;
  };
  const pod = await podOf(world, "checkout");
  const eviction = { pod, eviction: "node-a drains" };
  const prepare = (token?: string) => call("Prepare", { ...eviction, hold: "60s" }, token);

  expect(await prepare("of nobody")).toMatchObject({ code: "EK_RPC_UNAUTHENTICATED" });
  const elsewhere = await call("Prepare", { pod: await podOf(world, "other"), eviction: "x", hold: "60s" });
  expect(elsewhere).toMatchObject({ preparation: "PREPARATION_NOT_CONCERNED" });

  expect(await prepare()).toMatchObject({ preparation: "PREPARATION_WORKING" });
  await eventually(async () => expect(await prepare()).toMatchObject({ preparation: "PREPARATION_READY" }));
  await world.inState("checkout", "Guard");

  await world.kube.resource(pods).delete({ namespace: "default", name: pod.name });
  const answers = await Promise.all(Array.from({ length: 20 }, () => world.ask("checkout")));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));

  await world.inState("checkout", "Guard");
  await call("Release", { ...eviction, evicted: true });
  await world.inState("checkout", "Serve");
});

describeRedis("with two replicas, a call to the one that", () => {
  const { PREPARATION_WORKING, PREPARATION_READY, PREPARATION_NOT_CONCERNED } = drainV1.Preparation;

  test.each([
    ["leads", 32],
    ["does not lead", 33],
  ])(
    "%s prepares the last pod, and ends it",
    async (role, number) => {
      await using scene = await PairScene.start(number);
      const { world, pair } = scene;
      await scene.service("checkout", 5);
      await world.inState("checkout", "Serve");
      const leader = await pair.leader();
      const asked = role === "leads" ? leader : pair.other(leader);
      const peer = peerAt(await pair.door(asked, "grpc"), "secret");
      const client = peer.client(drainV1.DrainHookDefinition);
      const pod = { ...(await podOf(world, "checkout")), node: "node-a" };
      const eviction = { pod, eviction: "node-a drains" };
      const prepare = async () => client.prepare({ ...eviction, hold: { seconds: 60n, nanos: 0 } }, { retry: false });
      const unconcerned = { ...eviction, pod: { ...pod, uid: "of another" }, hold: { seconds: 60n, nanos: 0 } };
      expect(await client.prepare(unconcerned)).toMatchObject({ preparation: PREPARATION_NOT_CONCERNED });

      // Never anything but an answer of the leader: a silent one would say so.
      const first = await prepare();
      expect(first).toMatchObject({ preparation: PREPARATION_WORKING, expiresAt: expect.anything() });
      await eventually(async () => expect(await prepare()).toMatchObject({ preparation: PREPARATION_READY }));
      await world.inState("checkout", "Guard");
      await world.kube.resource(pods).delete({ namespace: "default", name: pod.name });
      const answers = await Promise.all(Array.from({ length: 20 }, () => world.ask("checkout")));
      expect(answers.map(({ status }) => status)).toEqual(all(20, 200));
      await world.inState("checkout", "Guard");
      await client.release({ ...eviction, evicted: true }, { retry: false });
      await world.inState("checkout", "Serve");
      peer.stop();
    },
    60_000,
  );
});
