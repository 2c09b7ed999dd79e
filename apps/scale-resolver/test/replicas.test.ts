import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { metricOf } from "./asking.ts";
import type { Pair } from "./pair.ts";
import { all, PairScene } from "./pair-scene.ts";
import { ask, eventually, type World } from "./world.ts";

describeRedis("two replicas on one Redis", () => {
  let scene: PairScene;
  let world: World;
  let pair: Pair;
  beforeAll(async () => {
    scene = await PairScene.start(26);
    ({ world, pair } = scene);
  }, 60_000);
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
  });

  test("both are in the path and either wakes a service, with one scale-up that changes something", async () => {
    const metric = await scene.asleep("either");
    expect(await scene.resolversOf("either")).toEqual(["127.0.0.1", "127.0.0.2"]);
    const held = await Promise.all(pair.both.map((replica) => scene.hold(replica, "either", 20)));
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
    await scene.service("veto", 0, { quietPeriod: 3 });
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
        await scene.whole();
        const name = `killed-${role}`;
        const metric = await scene.asleep(name);
        const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
        const leader = await pair.leader();
        const dead = role === "leader" ? leader : pair.other(leader);
        const alive = pair.other(dead);
        const [lost, kept] = [await scene.hold(dead, name, 500), await scene.hold(alive, name, 500)];
        await pair.kill(dead);
        expect(new Set(await Promise.all(lost))).toEqual(new Set(["ECONNRESET"]));
        end();
        expect(await Promise.all(kept)).toEqual(all(500, 200));
        expect(await world.replicas(name)).toBe(1);
        await eventually(async () => expect(await scene.resolversOf(name)).toEqual([alive.address]));
        // What the dead one had reported is forgotten: the service sleeps again, by whoever leads now.
        metric.value = 0;
        await world.inState(name, "Zero", 30_000);
        await pair.revive(dead);
      },
      90_000,
    );
  });

  test("one that leaves is taken out of the path first, and what it holds is answered", async () => {
    await scene.whole();
    const metric = await scene.asleep("leaves");
    const leaving = pair.other(await pair.leader());
    const end = world.faults.add({ fault: { kind: "status", code: 503 }, verb: "patch", resource: "deployments" });
    const held = await scene.hold(leaving, "leaves", 100);
    await pair.leave(leaving);
    await eventually(async () => expect(await scene.resolversOf("leaves")).toEqual([pair.other(leaving).address]));
    end();
    metric.value = 5;
    expect(await Promise.all(held)).toEqual(all(100, 200));
    expect((await leaving.process.exit).code).toBe(0);
    await world.inState("leaves", "Serve");
    await pair.revive(leaving);
  }, 60_000);

  test("what a leaving one still has under way keeps the service awake", async () => {
    await scene.whole();
    await scene.service("lingers", 0, { quietPeriod: 2 });
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
