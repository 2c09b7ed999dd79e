import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { namespaces } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { HangingServer } from "./hanging-server.ts";
import type { Replica } from "./pair.ts";
import { PairScene } from "./pair-scene.ts";
import { ask } from "./ask.ts";
import { times } from "./world.ts";

jest.setTimeout(90_000);

/** From a pod's creation until it is ready, in milliseconds. */
const START = 1500;
/** By when a replica that does not report is out of the path, with time enough for a busy machine. In milliseconds. */
const SILENT_WITHIN = 45_000;

describeRedis("two replicas on one Redis", () => {
  /** For the cases in which both replicas run. */
  let shared: PairScene;
  beforeAll(async () => {
    shared = await PairScene.start(START);
  });
  afterAll(() => shared[Symbol.asyncDispose]());

  test.concurrent(
    "are both in the path, and either wakes a service, with one scale-up that changes something",
    async () => {
      const { world, pair } = shared;
      await shared.asleep("either");
      expect(await world.redirectedTo("either")).toEqual([pair.a.address, pair.b.address]);
      const held = await Promise.all(pair.both.map((replica) => shared.hold(replica, "either", 20)));
      world.traffic.set("either", 5);
      expect(await Promise.all(held.flat())).toEqual(times(40, 200));
      const wakes = await Promise.all(
        pair.both.map(async (replica) => {
          const metrics = `http://${await pair.listener(replica, "admin")}/metrics`;
          return metricOf(metrics, "evenkeel_resolver_wakes_total", { service: "either" });
        }),
      );
      expect(wakes.reduce((sum, count) => sum + count, 0)).toBe(1);
      expect(world.receivedBy("either").filter(({ path }) => /^\/[ab]\//.test(path))).toHaveLength(40);
      await world.inState("either", "Serve");
    },
  );

  test.concurrent("keep a service awake while the follower has requests for it", async () => {
    const { world, pair } = shared;
    const leader = await pair.leader();
    await shared.service("busy", true, { quietPeriod: 30 });
    await world.inState("busy", "Guard");
    const place = await pair.place(pair.other(leader), "busy");
    expect((await ask(place)).status).toBe(200);
    await world.edit("busy", { quietPeriod: 1 });
    // Several times its quiet period.
    const end = performance.now() + 3000;
    while (performance.now() < end) {
      expect((await ask(place)).status).toBe(200);
      expect(await world.replicas("busy")).toBe(1);
    }
    await world.inState("busy", "Zero");
  });

  test.concurrent(
    "remove one that terminates from the path first, answer its held requests, and keep a service awake while it has a request in flight",
    async () => {
      await using scene = await PairScene.start(START);
      const { world, pair } = scene;
      await scene.asleep("held");
      const terminating = pair.other(await pair.leader());
      const end = world.faults.add({
        fault: { kind: "status", code: 503 },
        ...{ verb: "patch", resource: "deployments", name: "held" },
      });
      const held = await scene.hold(terminating, "held", 100);
      // Time enough for a request before it sleeps.
      await scene.service("in-flight", true, { quietPeriod: 30 });
      await world.inState("in-flight", "Guard");
      const asked = request({ ...(await pair.place(terminating, "in-flight")), method: "POST", agent: false });
      asked.write("early ");
      const answered = once(asked, "response") as Promise<[IncomingMessage]>;
      const metrics = `http://${await pair.listener(terminating, "admin")}/metrics`;
      await eventually(async () =>
        expect(await metricOf(metrics, "evenkeel_resolver_in_flight", { service: "in-flight" })).toBe(1),
      );
      await world.edit("in-flight", { quietPeriod: 1 });
      await pair.terminate(terminating);
      await eventually(async () => expect(await world.redirectedTo("held")).toEqual([pair.other(terminating).address]));
      end();
      world.traffic.set("held", 5);
      expect(await Promise.all(held)).toEqual(times(100, 200));
      // Several times its quiet period.
      const until = performance.now() + 3000;
      while (performance.now() < until) expect(await world.replicas("in-flight")).toBe(1);
      asked.end("late");
      const [answer] = await answered;
      answer.resume();
      expect(answer.statusCode).toBe(200);
      expect((await terminating.process.exit).code).toBe(0);
      await world.inState("held", "Serve");
      await world.inState("in-flight", "Zero");
    },
  );

  test.concurrent("redirect no Service to one that is silent though its pod is ready, until it reports", async () => {
    await using scene = await PairScene.start(START);
    const { world, pair } = scene;
    await scene.asleep("silent");
    const leader = await pair.leader();
    const stopped = pair.other(leader);
    stopped.process.signal("SIGSTOP");
    await eventually(async () => expect(await world.redirectedTo("silent")).toEqual([leader.address]), SILENT_WITHIN);
    stopped.process.signal("SIGCONT");
    const both = pair.both.map(({ address }) => address);
    await eventually(async () => expect(await world.redirectedTo("silent")).toEqual(both));
  });

  test.concurrent("follow the replicas while a metric server does not answer", async () => {
    // One reconcile at a time: it waits for the metric server, whatever else happens.
    await using scene = await PairScene.start(START, ["--workers=1"]);
    await using server = await HangingServer.start();
    const { world, pair } = scene;
    await scene.asleep("unmeasured");
    const leader = await pair.leader();
    const metadata = { query: "up", serverAddress: server.url, threshold: "0.5" };
    const triggers = [{ type: "prometheus", metadata }];
    let quietPeriod = 1;
    // A query that is given up meanwhile, on a busy machine, shows nothing: the next one does.
    const followed = async (ready: readonly Replica[]) => {
      const next = server.nextQuery();
      await world.edit("unmeasured", { triggers, quietPeriod: (quietPeriod += 1) });
      const query = await next;
      await pair.setReady(...ready.map(({ name }) => name));
      const addresses = ready.map(({ address }) => address);
      await eventually(async () => expect(await world.redirectedTo("unmeasured")).toEqual(addresses));
      return query.isOpen;
    };
    await eventually(async () => (await followed([leader])) || (await followed(pair.both)), 60_000);
  });

  test.concurrent("are not named in the endpoints of a namespace in ambient mode", async () => {
    await using scene = await PairScene.start(START);
    const { world, pair } = scene;
    const body = { metadata: { labels: { "istio.io/dataplane-mode": "ambient" } } };
    await world.kube.resource(namespaces).patch({ name: "default" }, { type: "merge", body });
    await scene.asleep("ambient");
    const endpoints = (await world.resolverSlices("ambient")).flatMap((slice) => slice.endpoints ?? []);
    expect(endpoints.map(({ addresses, targetRef }) => [addresses[0], targetRef])).toEqual(
      pair.both.map(({ address }) => [address, undefined]),
    );
  });

  test.concurrent("have a new leader when the leader terminates, for a last pod that terminates then", async () => {
    // Without the hint that the leader terminates, the other replica would try for the Lease up to 36 s later.
    const rare = ["--lease-duration=60s", "--lease-renew-deadline=50s", "--lease-retry-period=30s"];
    await using scene = await PairScene.start(START, rare);
    const { world, pair } = scene;
    await scene.service("warm", false);
    await world.inState("warm", "Serve");
    const leader = await pair.leader();
    await pair.terminate(leader);
    await world.scale("warm", 0);
    await eventually(async () => expect(await world.redirectedTo("warm")).toEqual([pair.other(leader).address]));
  });
});
