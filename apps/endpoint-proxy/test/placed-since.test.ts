import { eventually, FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { describeRedis, openedState, RedisServer } from "@evenkeel/state-contract";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { PlacedSince, type PlacementStreams } from "../src/writes/placed-since.ts";
import { DEPLOYMENTS, deployment, ThreeClusters } from "./three-clusters.ts";

const log = silentLog();
const EACH = { cpu: 100, memory: 10 };
const LIMIT = 90_000;

describeRedis("two replicas that share Redis", () => {
  let redis: RedisServer;
  let streams: PlacementStreams[];
  const closing: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    redis = await RedisServer.start();
    const opened = [await openedState(redis.address), await openedState(redis.address)];
    streams = opened.map(({ state }) => state.streams);
    closing.push(...opened.map(({ close }) => close));
  });
  afterAll(async () => {
    for (const close of closing) await close();
    await redis.end();
  });
  const replica = (index: number, clock: FakeClock) => {
    const placed = new PlacedSince({ streams: streams[index] as PlacementStreams, clock, log, limit: LIMIT });
    placed.start();
    return placed;
  };

  test("count what the other placed, each once, until the next score; one that starts later too", async () => {
    const clock = new FakeClock();
    const [one, other] = [replica(0, clock), replica(1, clock)];
    const at = clock.now();
    one.note("osaka", at + 1, 3, EACH);
    other.note("osaka", at + 2, 2, EACH);
    const all = { cpu: 500, memory: 50, pods: 5 };
    const late = replica(0, clock);
    for (const each of [one, other, late]) await eventually(() => expect(each.since("osaka", at)).toEqual(all));
    // A score that was taken between the two has the first in it already.
    for (const each of [one, other, late])
      expect(each.since("osaka", at + 1)).toEqual({ cpu: 200, memory: 20, pods: 2 });
    for (const each of [one, other, late]) {
      expect(each.since("osaka", at + 2)).toEqual({ cpu: 0, memory: 0, pods: 0 });
      each.stop();
    }
  });

  test("a create through one replica leaves the room that it took out of the next create through the other", async () => {
    const world = await ThreeClusters.start();
    try {
      const [one, other] = [replica(0, world.clock), replica(1, world.clock)];
      const at = world.clock.now();
      const room = { cpu: 500, memory: 2 ** 40, pods: 100 };
      const score = { source: "watts", score: 100, free: room, whole: room, age: 60 } as const;
      const scores = Object.fromEntries(
        ["a", "b", "c"].map((name) => [name, { score: { ...score, marginalWatts: name === "b" ? 10 : 1000 } }]),
      );
      world.score({ a: 1, b: 1, c: 1 }, scores);
      const create = async (name: string, placedSince: PlacedSince) => {
        const answers = world.answersWith({ placedSince });
        const body = JSON.stringify(deployment(name, 4));
        expect(await world.ask("POST", DEPLOYMENTS, body, {}, answers)).toMatchObject({ status: 201 });
        return world.verdicts.at(-1)?.after.find(({ cluster }) => cluster === "b")?.replicas;
      };
      // Each pod asks for 100m: b has room for five.
      expect(await create("first", one)).toBe(4);
      await eventually(() => expect(other.since("b", at - 60).pods).toBe(4));
      expect(await create("second", other)).toBe(1);
      one.stop();
      other.stop();
    } finally {
      await world.stop();
    }
  });
});

test("without shared state a replica knows what it placed itself", async () => {
  const streams: PlacementStreams = {
    append: async () => Promise.reject(new Error("away")),
    tail: async function* () {
      yield await Promise.reject<{ gap: true }>(new Error("away"));
    },
  };
  const clock = new FakeClock();
  const placed = new PlacedSince({ streams, clock, log, limit: LIMIT });
  placed.start();
  placed.note("b", clock.now() + 1, 3, EACH);
  await new Promise(setImmediate);
  expect(placed.since("b", clock.now()).pods).toBe(3);
});

test("what no score can be older than is forgotten, of clusters that are gone too", async () => {
  const clock = new FakeClock();
  let kept: readonly string[] = [];
  const streams: PlacementStreams = {
    append: (_object, _stream, text) => Promise.resolve(void (kept = [...kept, text])),
    tail: async function* () {
      for (const text of ["{}", "null", "[", ...kept]) yield await Promise.resolve({ text });
    },
  };
  const placed = new PlacedSince({ streams, clock, log, limit: LIMIT });
  placed.note("gone", clock.now(), 3, EACH);
  await clock.advance(LIMIT + 1);
  placed.note("b", clock.now(), 1, EACH);
  expect(placed.since("gone", 0).pods).toBe(0);
  // Nor does it come back from the stream.
  placed.start();
  await new Promise(setImmediate);
  expect(placed.since("gone", 0).pods).toBe(0);
  expect(placed.since("b", 0).pods).toBe(1);
});
