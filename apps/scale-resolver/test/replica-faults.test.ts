import { describeRedis } from "@evenkeel/state-contract";
import { expect, jest, test } from "@jest/globals";
import { PairScene } from "./pair-scene.ts";
import { IN_SOAK } from "./soak.ts";
import { times } from "./world.ts";

jest.setTimeout(120_000);

const STATES = ["Serve", "Guard", "Zero", "Wake"] as const;
/** The service in each of the states. */
const NAMES = STATES.map((state) => state.toLowerCase());

const GONE = "Redis is gone";
const FAULTS = ["the leader is killed", GONE];
const OTHER_FAULTS = ["the follower is killed", "the leader terminates", "the follower terminates"];

/** From a pod's creation until it is ready: time enough for a fault during a wake. In milliseconds. */
const START = 2500;

/** Requests that each replica holds. */
const HELD = IN_SOAK ? 500 : 50;

/** Seconds for which a service stays in Guard: time enough for a fault, on a busy machine too. */
const GUARDED = 30;

describeRedis("two replicas on one Redis", () => {
  /** One service in each of the states, and the requests that wait in each replica for the one in Wake. */
  async function inEachState(scene: PairScene) {
    const { world, pair } = scene;
    await Promise.all([
      scene.service("serve", false).then(() => world.inState("serve", "Serve")),
      scene.service("guard", true, { quietPeriod: GUARDED }).then(() => world.inState("guard", "Guard")),
      scene.asleep("zero"),
      scene.asleep("wake"),
    ]);
    const held = await Promise.all(pair.both.map((replica) => scene.hold(replica, "wake", HELD)));
    await world.inState("wake", "Wake");
    return held;
  }

  // All five at once are too much for one machine.
  const each = IN_SOAK ? test.each([...FAULTS, ...OTHER_FAULTS]) : test.concurrent.each(FAULTS);
  each("when %s, nothing on a living replica is lost of services in Serve, Guard, Zero and Wake", async (fault) => {
    await using scene = await PairScene.start(START);
    const { world, pair } = scene;
    const held = await inEachState(scene);
    const leader = await pair.leader();
    const struck = fault.includes("leader") ? leader : pair.other(leader);
    const isKilled = fault.endsWith("killed");
    let early = 0;
    for (const one of held.flat()) void one.then(() => (early += 1));
    const states = await Promise.all(NAMES.map(async (name) => (await world.get(name)).status?.state));
    expect([states, early]).toEqual([STATES, 0]);
    if (fault === GONE) await pair.redis.kill();
    else if (isKilled) await pair.kill(struck);
    else await pair.terminate(struck);

    const living = fault === GONE ? pair.both : [pair.other(struck)];
    await Promise.all(
      NAMES.map(async (name) => {
        const answers = living.flatMap((replica) => times(20, replica).map((one) => pair.ask(one, name)));
        const statuses = (await Promise.all(answers)).map(({ status }) => status);
        expect([name, statuses]).toEqual([name, times(answers.length, 200)]);
      }),
    );
    const [lost, kept] = [[] as Promise<number | string>[], [] as Promise<number | string>[]];
    for (const [index, replica] of pair.both.entries()) {
      (isKilled && replica === struck ? lost : kept).push(...(held[index] ?? []));
    }
    expect(await Promise.all(kept)).toEqual(times(kept.length, 200));
    expect(await Promise.all(lost)).toEqual(times(lost.length, "ECONNRESET"));
    for (const name of NAMES) expect([name, await world.replicas(name)]).toEqual([name, 1]);

    for (const name of NAMES) world.traffic.set(name, 0);
    await world.edit("guard", { quietPeriod: 1 });
    if (fault === GONE) {
      // No replica knows the activity of the other, so nothing sleeps, and the condition says so.
      for (const name of NAMES) {
        expect(await world.ready(name, "ActivityUnknown")).toMatchObject({ status: "False" });
        expect([name, await world.replicas(name)]).toEqual([name, 1]);
      }
      await pair.redis.run();
    }
    await Promise.all(NAMES.map((name) => world.inState(name, "Zero")));
    if (fault !== GONE) {
      // The activity of the stopped replica is forgotten, and only the living one is in the paths.
      const { address } = pair.other(struck);
      for (const name of NAMES) expect([name, await world.redirectedTo(name)]).toEqual([name, [address]]);
      await pair.revive(struck);
    }
    for (const { status } of await Promise.all(NAMES.map((name) => world.ask(name)))) expect(status).toBe(200);
  });
});
