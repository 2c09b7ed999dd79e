import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { PairScene } from "./pair-scene.ts";
import { IN_SOAK } from "./soak.ts";
import { times } from "./world.ts";

jest.setTimeout(120_000);

const STATES = ["Serve", "Guard", "Zero", "Wake"] as const;
const GONE = "Redis is gone";
const FAULTS = ["the leader is killed", GONE];
const OTHER_FAULTS = ["the follower is killed", "the leader terminates", "the follower terminates"];

/** From a pod's creation until it is ready: time enough for a fault during a wake. In milliseconds. */
const START = 2500;

/** Seconds for which a service stays in Guard: time enough for a fault, on a busy machine too. */
const GUARDED = 30;

describeRedis("two replicas on one Redis", () => {
  let scene: PairScene;
  beforeAll(async () => {
    scene = await PairScene.start(START);
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
  });

  /** One service in each of the states, and the requests that wait in each replica for the one in Wake. */
  async function inEachState(nameOf: (state: string) => string) {
    const { world, pair } = scene;
    await Promise.all([
      scene.service(nameOf("Serve"), false).then(() => world.inState(nameOf("Serve"), "Serve")),
      scene.asleep(nameOf("Zero")),
      scene.asleep(nameOf("Wake")),
    ]);
    await scene.service(nameOf("Guard"), true, { quietPeriod: GUARDED });
    await world.inState(nameOf("Guard"), "Guard");
    const held = await Promise.all(pair.both.map((replica) => scene.hold(replica, nameOf("Wake"), 50)));
    await world.inState(nameOf("Wake"), "Wake");
    return held;
  }

  test.each(IN_SOAK ? [...FAULTS, ...OTHER_FAULTS] : FAULTS)(
    "when %s, nothing on a living replica is lost of services in Serve, Guard, Zero and Wake",
    async (fault) => {
      const { world, pair } = scene;
      await scene.repair();
      const nameOf = (state: string) => `${state}-${fault}`.toLowerCase().replaceAll(" ", "-");
      const names = STATES.map(nameOf);
      const held = await inEachState(nameOf);
      const leader = await pair.leader();
      const struck = fault.includes("leader") ? leader : pair.other(leader);
      const isKilled = fault.endsWith("killed");
      let early = 0;
      for (const one of held.flat()) void one.then(() => (early += 1));
      const states = await Promise.all(names.map(async (name) => (await world.get(name)).status?.state));
      expect([states, early]).toEqual([STATES, 0]);
      if (fault === GONE) await pair.redis.kill();
      else if (isKilled) await pair.kill(struck);
      else await pair.terminate(struck);

      const living = fault === GONE ? pair.both : [pair.other(struck)];
      await Promise.all(
        names.map(async (name) => {
          const answers = living.flatMap((replica) => times(20, replica).map((one) => pair.ask(one, name)));
          const statuses = (await Promise.all(answers)).map(({ status }) => status);
          expect([name, statuses]).toEqual([name, times(answers.length, 200)]);
        }),
      );
      const kept = pair.both.flatMap((replica, index) => (isKilled && replica === struck ? [] : (held[index] ?? [])));
      expect(await Promise.all(kept)).toEqual(times(kept.length, 200));
      for (const name of names) expect([name, await world.replicas(name)]).toEqual([name, 1]);

      for (const name of names) world.traffic.set(name, 0);
      await world.edit(nameOf("Guard"), { quietPeriod: 1 });
      if (fault === GONE) {
        // No replica knows what the other has: that is no reason to sleep, and the condition says so.
        for (const name of names) {
          expect(await world.ready(name, "ActivityUnknown")).toMatchObject({ status: "False" });
          expect([name, await world.replicas(name)]).toEqual([name, 1]);
        }
        await pair.redis.run();
      } else await pair.revive(struck);
      await Promise.all(
        names.map(async (name) => {
          await world.inState(name, "Zero");
          expect((await world.ask(name)).status).toBe(200);
        }),
      );
    },
  );
});
