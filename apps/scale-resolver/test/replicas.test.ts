import { endpointSlices } from "@evenkeel/kube";
import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { metricOf } from "./asking.ts";
import { Pair, type Replica } from "./pair.ts";
import { type Answer, ask, eventually, World } from "./world.ts";

/** From a pod's creation until it is ready: time enough for what goes wrong during a wake. */
const START = 2500;

describeRedis("two replicas on one Redis", () => {
  let world: World;
  let pair: Pair;
  beforeAll(async () => {
    world = await World.start({ number: 26, startDelay: START });
    pair = await Pair.start(world);
  }, 60_000);
  afterAll(async () => {
    await pair[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  /** A service of its own metric, which is idle while `value` is 0. */
  async function service(name: string, value: number, change: Readonly<Record<string, unknown>> = {}) {
    const metric = { value };
    world.prometheus.answer(`of ${name}`, () => ({ kind: "vector", samples: [{ metric: {}, value: metric.value }] }));
    const metadata = { query: `of ${name}`, serverAddress: world.prometheus.url, threshold: "0.5" };
    await world.workload(name);
    await eventually(() => world.ask(name));
    await world.elasti(name, { triggers: [{ type: "prometheus", metadata }], ...change });
    return metric;
  }

  async function asleep(name: string) {
    const metric = await service(name, 0);
    await world.inState(name, "Zero", 30_000);
    await world.isEmpty(name);
    return metric;
  }

  /** Both are alive and ready, whatever the test before did to them. */
  async function whole() {
    if (!(await pair.redis.ask((client) => client.ping()).catch(() => false))) await pair.redis.run();
    for (const replica of pair.both) if (pair.hasEnded(replica)) await pair.revive(replica);
    await pair.leader();
  }

  /** Requests that wait in one replica, and what becomes of each: a status, or how it failed. */
  async function hold(replica: Replica, name: string, count: number): Promise<Promise<number | string>[]> {
    const place = await pair.place(replica, name);
    const results = Array.from({ length: count }, (_, index) =>
      ask(place, { method: "POST", path: `/${replica.name}/${index}`, body: "x" }).then(
        ({ status }: Answer) => status,
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      ),
    );
    await eventually(async () => expect(await pendingIn(replica, name)).toBe(count));
    return results;
  }

  async function pendingIn(replica: Replica, name: string): Promise<number> {
    const url = `http://${await pair.door(replica, "admin")}/metrics`;
    return metricOf(url, "evenkeel_resolver_pending", { service: name });
  }

  const all = (count: number, what: number | string) => Array.from({ length: count }, () => what);

  /** The addresses that requests of a Service are led to. */
  async function resolversOf(name: string): Promise<string[]> {
    const labelSelector = `kubernetes.io/service-name=${name},endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io`;
    const { items } = await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector });
    return items.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)).sort();
  }

  test("both are in the path and either wakes a service, with one scale-up that changes something", async () => {
    const metric = await asleep("either");
    expect(await resolversOf("either")).toEqual(["127.0.0.1", "127.0.0.2"]);
    const held = await Promise.all(pair.both.map((replica) => hold(replica, "either", 20)));
    metric.value = 5;
    expect(await Promise.all(held.flat())).toEqual(all(40, 200));
    const wakes = await Promise.all(
      pair.both.map(async (replica) =>
        metricOf(`http://${await pair.door(replica, "admin")}/metrics`, "evenkeel_resolver_wakes_total", {
          service: "either",
        }),
      ),
    );
    expect(wakes.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(world.seen.filter(({ path }) => /^\/[ab]\//.test(path))).toHaveLength(40);
    await world.inState("either", "Serve");
  }, 60_000);

  test("a request under way in the one that does not lead keeps the other from putting the service to sleep", async () => {
    const leader = await pair.leader();
    await service("veto", 0, { quietPeriod: 3 });
    await world.inState("veto", "Guard");
    const place = await pair.place(pair.other(leader), "veto");
    const until = performance.now() + 5000;
    while (performance.now() < until) {
      expect((await ask(place)).status).toBe(200);
      expect(await world.replicas("veto")).toBe(1);
    }
    await world.inState("veto", "Zero", 30_000);
  }, 60_000);

  describe("when one of them is killed with 500 requests held in each", () => {
    test.each(["leader", "follower"] as const)(
      "and it was the %s, those of the other are answered",
      async (role) => {
        await whole();
        const name = `killed-${role}`;
        const metric = await asleep(name);
        const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
        const leader = await pair.leader();
        const dead = role === "leader" ? leader : pair.other(leader);
        const alive = pair.other(dead);
        const [lost, kept] = [await hold(dead, name, 500), await hold(alive, name, 500)];
        await pair.kill(dead);
        expect(new Set(await Promise.all(lost))).toEqual(new Set(["ECONNRESET"]));
        end();
        expect(await Promise.all(kept)).toEqual(all(500, 200));
        expect(await world.replicas(name)).toBe(1);
        await eventually(async () => expect(await resolversOf(name)).toEqual([alive.address]));
        // What the dead one had reported is forgotten: the service sleeps again, by whoever leads now.
        metric.value = 0;
        await world.inState(name, "Zero", 30_000);
        await pair.revive(dead);
      },
      90_000,
    );
  });

  test("one that leaves is taken out of the path first, and what it holds is answered", async () => {
    await whole();
    const metric = await asleep("leaves");
    const leaving = pair.other(await pair.leader());
    const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
    const held = await hold(leaving, "leaves", 100);
    await pair.leave(leaving);
    await eventually(async () => expect(await resolversOf("leaves")).toEqual([pair.other(leaving).address]));
    end();
    metric.value = 5;
    expect(await Promise.all(held)).toEqual(all(100, 200));
    expect((await leaving.process.exit).code).toBe(0);
    await world.inState("leaves", "Serve");
    await pair.revive(leaving);
  }, 60_000);

  test("what a leaving one still has under way keeps the service awake", async () => {
    await whole();
    await service("lingers", 0, { quietPeriod: 2 });
    await world.inState("lingers", "Guard");
    const leaving = pair.other(await pair.leader());
    const { promise: body, resolve: finish } = Promise.withResolvers<string>();
    const place = await pair.place(leaving, "lingers");
    const answer = askSlowly(place, body);
    const metrics = `http://${await pair.door(leaving, "admin")}/metrics`;
    await eventually(async () =>
      expect(await metricOf(metrics, "evenkeel_resolver_in_flight", { service: "lingers" })).toBe(1),
    );
    await pair.leave(leaving);
    const until = performance.now() + 6000;
    while (performance.now() < until) {
      expect(await world.replicas("lingers")).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    finish("late");
    expect(await answer).toBe(200);
    await leaving.process.exit;
    await world.inState("lingers", "Zero", 30_000);
    await pair.revive(leaving);
  }, 60_000);

  const GONE = "Redis is gone";
  const STATES = ["Serve", "Guard", "Zero", "Wake"] as const;
  const FAULTS = [
    ...["the leader is killed", "the follower is killed", "the leader leaves", "the follower leaves", GONE],
  ];
  const cells = STATES.flatMap((state) => FAULTS.map((fault) => ({ state, fault })));

  test.each(cells)(
    "in $state, when $fault, nothing on a living replica is lost",
    async ({ state, fault }) => {
      await whole();
      const name = `cell-${state}-${fault}`.toLowerCase().replaceAll(" ", "-");
      const metric = await enter(state, name);
      const held = state === "Wake" ? await Promise.all(pair.both.map((replica) => hold(replica, name, 50))) : [[], []];
      const leader = await pair.leader();
      const struck = fault.includes("leader") ? leader : pair.other(leader);
      const isKilled = fault.endsWith("killed");
      let early = 0;
      for (const one of held.flat()) void one.then(() => (early += 1));
      const { state: now } = (await world.get(name)).status ?? {};
      expect([now, early]).toEqual([state, 0]);
      if (fault === GONE) await pair.redis.kill();
      else if (isKilled) await pair.kill(struck);
      else await pair.leave(struck);

      const living = fault === GONE ? pair.both : [pair.other(struck)];
      const more = await Promise.all(
        living.flatMap((replica) => Array.from({ length: 20 }, () => pair.ask(replica, name))),
      );
      expect(more.map(({ status }) => status)).toEqual(all(more.length, 200));
      const kept = pair.both.flatMap((replica, index) => (isKilled && replica === struck ? [] : (held[index] ?? [])));
      expect(await Promise.all(kept)).toEqual(all(kept.length, 200));
      expect(await world.replicas(name)).toBe(1);

      if (fault === GONE) {
        // Nobody knows what the other has: that is no reason to sleep, and is said.
        metric.value = 0;
        await eventually(async () => {
          const ready = (await world.get(name)).status?.conditions?.find(({ type }) => type === "Ready");
          expect(ready).toMatchObject({ status: "False", reason: "ActivityUnknown" });
        });
        expect(await world.replicas(name)).toBe(1);
        await pair.redis.run();
      } else await pair.revive(struck);
      metric.value = 0;
      await world.inState(name, "Zero", 30_000);
      expect((await world.ask(name)).status).toBe(200);
    },
    90_000,
  );

  async function enter(state: (typeof STATES)[number], name: string) {
    if (state === "Zero" || state === "Wake") return asleep(name);
    const metric = await service(name, state === "Guard" ? 0 : 5, state === "Guard" ? { quietPeriod: 3 } : {});
    await world.inState(name, state);
    return metric;
  }
});

/** A request whose body ends when `body` is there; resolves with its status. */
async function askSlowly(place: { readonly host: string; readonly port: number }, body: Promise<string>) {
  const { request } = await import("node:http");
  const asked = request({ ...place, method: "POST", agent: false });
  asked.write("early ");
  void body.then((text) => asked.end(text));
  return new Promise<number>((resolve, reject) => {
    asked.on("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on("error", reject);
  });
}
