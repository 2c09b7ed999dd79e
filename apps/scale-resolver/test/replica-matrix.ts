import { describeRedis } from "@evenkeel/state-contract";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Pair } from "./pair.ts";
import { all, PairScene } from "./pair-scene.ts";
import { eventually, type World } from "./world.ts";

type State = "Serve" | "Guard" | "Zero" | "Wake";

/** Seconds for which a service stays in Guard: time enough to break something in it, on a slow machine too. */
const GUARDED = 6;
const GONE = "Redis is gone";
const FAULTS = [
  ...["the leader is killed", "the follower is killed", "the leader leaves", "the follower leaves", GONE],
];

/** Breaks each thing once in each of `states`: a part of the matrix, so that two files can run beside each other. */
export function replicaMatrix(number: number, states: readonly State[]): void {
  describeRedis("two replicas on one Redis", () => {
    let scene: PairScene;
    let world: World;
    let pair: Pair;
    beforeAll(async () => {
      scene = await PairScene.start(number);
      ({ world, pair } = scene);
    }, 60_000);
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    const cells = states.flatMap((state) => FAULTS.map((fault) => ({ state, fault })));

    test.each(cells)(
      "in $state, when $fault, nothing on a living replica is lost",
      async ({ state, fault }) => {
        await scene.whole();
        const name = `cell-${state}-${fault}`.toLowerCase().replaceAll(" ", "-");
        const metric = await enter(state, name);
        const held =
          state === "Wake" ? await Promise.all(pair.both.map((replica) => scene.hold(replica, name, 50))) : [[], []];
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

    async function enter(state: State, name: string) {
      if (state === "Zero" || state === "Wake") return scene.asleep(name);
      const metric = await scene.service(
        name,
        state === "Guard" ? 0 : 5,
        state === "Guard" ? { quietPeriod: GUARDED } : {},
      );
      await world.inState(name, state);
      return metric;
    }
  });
}
