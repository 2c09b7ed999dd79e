import { createLogger } from "@evenkeel/runtime";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import type { State } from "@evenkeel/state";
import { describeRedis, openedState, RedisServer } from "@evenkeel/state-contract";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { Activity } from "../src/decide/snapshot.ts";
import { Activities } from "../src/gateway/activities.ts";
import type { ResolverEndpoint } from "../src/observe/resolver-endpoints.ts";

const NOTHING: Activity = { pending: 0, inFlight: 0, requests: 0, lastRequestAt: null };
const KEY = "shop/checkout";

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** One replica with its own fake clock. */
class Sample {
  readonly clock = new FakeClock();
  readonly changed: string[] = [];
  /** How many waited, as it was seen in the very moment of each change. */
  readonly pending: number[] = [];
  readonly lines: string[] = [];
  readonly activities: Activities;
  own: Activity = NOTHING;
  /** The silent replicas after each change of them. */
  readonly silences: (readonly string[])[] = [];

  constructor(name: string, state: State, ready: () => readonly string[], shared = true) {
    const endpoint = (of: string): Pick<ResolverEndpoint, "replica" | "targetRef"> => ({
      replica: `uid-${of}`,
      targetRef: { kind: "Pod", name: of },
    });
    this.activities = new Activities({
      state,
      instance: name,
      keys: () => [KEY],
      local: () => this.own,
      resolvers: () => ready().map(endpoint),
      shared,
      changed: (key) => {
        this.changed.push(key);
        this.pending.push(this.activities.seen(key).total.pending);
      },
      silenceChanged: () => this.silences.push([...this.activities.silent()]),
      clock: this.clock,
      log: createLogger({
        service: "test",
        level: "info",
        secrets: [],
        destination: { write: (line: string) => this.lines.push(line) },
      }),
    });
    this.activities.start();
    ends.push(() => this.activities.stop());
  }

  has(activity: Partial<Activity>): void {
    this.own = { ...this.own, ...activity };
    this.activities.tell(KEY);
  }

  read(): ReturnType<Activities["read"]> {
    return this.activities.read(KEY, true);
  }
}

describe("a replica with a state of its own", () => {
  async function alone(ready: () => readonly string[]) {
    const { state, close } = await openedState("sqlite::memory:");
    ends.push(close);
    return new Sample("a", state, ready, false);
  }

  test("knows what it has itself", async () => {
    const a = await alone(() => ["a"]);
    a.has({ pending: 2, inFlight: 1, requests: 3, lastRequestAt: 7 });
    expect(await a.read()).toMatchObject({ pending: 2, inFlight: 1, requests: 3, lastRequestAt: 7 });
  });

  test("knows nothing as soon as there is another replica without shared state", async () => {
    const a = await alone(() => ["a", "b"]);
    expect(await a.read()).toBeNull();
  });

  test("reports the rate of the last minute", async () => {
    const a = await alone(() => ["a"]);
    a.has({ requests: 100 });
    await a.clock.advance(1000);
    a.has({ requests: 160 });
    await a.clock.advance(1000);
    expect((await a.read())?.requestRate).toBeCloseTo(30, 0);
    await a.clock.advance(120_000);
    expect((await a.read())?.requestRate).toBe(0);
  });
});

/** Resolves when subscriptions up to now are in effect. */
function whenListening({ edges }: State): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  ends.push(edges.subscribe("resolvers", "activity", () => resolve(undefined)));
  return promise;
}

describeRedis("replicas on one Redis", () => {
  async function two() {
    const redis = await RedisServer.start();
    ends.push(() => redis.end());
    const [one, other] = [await openedState(redis.address), await openedState(redis.address)];
    ends.push(one.close, other.close);
    let ready: readonly string[] = ["a", "b"];
    const a = new Sample("a", one.state, () => ready);
    const b = new Sample("b", other.state, () => ready);
    // What is told before a replica listens is lost.
    await Promise.all([one.state, other.state].map(whenListening));
    await eventually(async () => ((await a.read()) && (await b.read())) !== null, 5000);
    return { redis, a, b, setReady: (...names: readonly string[]) => (ready = names) };
  }

  test("add up their requests, and know changes at once", async () => {
    const { a, b } = await two();
    a.has({ requests: 1, pending: 1, lastRequestAt: 5 });
    await eventually(() => Promise.resolve(b.changed.includes(KEY)), 5000);
    expect(await b.activities.read(KEY)).toMatchObject({ pending: 1, inFlight: 0, requests: 1, lastRequestAt: 5 });
    b.has({ requests: 2, inFlight: 2, lastRequestAt: 9 });
    await eventually(() => Promise.resolve(a.changed.includes(KEY)), 5000);
    const both = { pending: 1, inFlight: 2, requests: 3, lastRequestAt: 9 };
    expect(await a.read()).toMatchObject(both);
    expect(await b.read()).toMatchObject(both);
  });

  test("have the numbers with the notification, so that KEDA gets them without another read", async () => {
    const { a, b } = await two();
    for (const pending of [1, 2, 3]) b.has({ requests: pending, pending });
    b.has({ pending: 0 });
    await eventually(() => Promise.resolve(a.changed.length === 4), 5000);
    expect(a.pending[0]).toBe(1);
    expect(a.pending.at(-1)).toBe(0);
  });

  test("see without a read what each has, and which one is missing", async () => {
    const { redis, a, b, setReady } = await two();
    b.has({ requests: 3, pending: 2, inFlight: 1, lastRequestAt: 5 });
    await eventually(() => Promise.resolve(a.changed.includes(KEY)), 5000);
    a.own = { ...NOTHING, requests: 1, pending: 1 };
    expect(a.activities.seen(KEY)).toMatchObject({
      total: { pending: 3, inFlight: 1, requests: 4, lastRequestAt: 5 },
      parts: [
        { replica: "a", pending: 1, inFlight: 0 },
        { replica: "b", pending: 2, inFlight: 1 },
      ],
      gap: null,
    });
    setReady("a", "b", "c");
    expect(a.activities.seen(KEY).gap).toMatch(/\bc$/);
    await redis.kill();
    await eventually(() => expect(a.activities.seen(KEY).gap).toMatch(/shared state .* replica a\b/));
    expect(a.activities.seen(KEY)).toMatchObject({ total: { pending: 1 }, parts: [{ replica: "a" }] });
  });

  test("see changes that were not announced with the next heartbeat", async () => {
    const { a, b } = await two();
    b.has({ requests: 1, pending: 1 });
    await eventually(() => Promise.resolve(a.changed.includes(KEY)), 5000);
    b.own = { ...b.own, requests: 40, pending: 40 };
    await b.clock.advance(1000);
    await eventually(async () => {
      await a.clock.advance(50);
      return a.activities.seen(KEY).total.pending === 40;
    }, 5000);
  });

  test("see nothing of the others once the last read is older than a report's lifetime", async () => {
    const { a } = await two();
    expect(a.activities.seen(KEY).gap).toBeNull();
    const beats = a.activities.stop();
    await beats;
    await a.clock.advance(3501);
    expect(a.activities.seen(KEY).gap).toMatch(/replica a\b/);
  });

  test("know nothing while a ready replica has not reported, though one that terminates has", async () => {
    const { a, setReady } = await two();
    setReady("a", "c");
    expect(await a.read()).toBeNull();
  });

  test("count a ready one as silent that has not reported for ten seconds, until its first report", async () => {
    const { redis, a, b, setReady } = await two();
    // A report in Redis lives for as long as its time, so b reports as time passes for a.
    const pass = async (milliseconds: number) => {
      for (let left = milliseconds; left > 0; left -= 500) {
        await Promise.all([a.clock.advance(500), b.clock.advance(500)]);
        await Promise.all([a.read(), b.read()]);
      }
    };
    setReady("a", "b", "c");
    await pass(6000);
    expect(a.silences).toEqual([]);
    await eventually(async () => {
      await pass(500);
      return a.silences.length > 0 && b.silences.length > 0;
    }, 5000);
    expect([a.silences, b.silences]).toEqual([[["c"]], [["c"]]]);
    const third = await openedState(redis.address);
    ends.push(third.close);
    new Sample("c", third.state, () => ["a", "b", "c"]);
    await eventually(async () => {
      await pass(500);
      return a.silences.length === 2;
    }, 5000);
    expect(a.silences[1]).toEqual([]);
  });

  test("count none as silent while Redis is away", async () => {
    const { redis, a, setReady } = await two();
    setReady("a", "c");
    await eventually(async () => {
      await a.clock.advance(1000);
      return a.activities.silent().has("c");
    }, 5000);
    await redis.kill();
    await eventually(async () => {
      await a.clock.advance(1000);
      return a.activities.silent().size === 0;
    }, 5000);
    expect(a.silences).toEqual([["c"], []]);
    await a.clock.advance(60_000);
    expect(a.silences).toEqual([["c"], []]);
  });

  test("count the requests of a terminating replica, until it has stopped", async () => {
    const { a, b, setReady } = await two();
    b.has({ requests: 1, pending: 1 });
    setReady("a");
    await eventually(async () => (await a.read())?.pending === 1, 5000);
    await b.activities.stop();
    expect(await a.read()).toMatchObject({ pending: 0, requests: 0 });
  });

  test("forget one that is dead after a few seconds, and know nothing until it is no longer ready", async () => {
    const { a, b, setReady } = await two();
    b.has({ requests: 1, pending: 1 });
    await eventually(async () => (await a.read())?.pending === 1, 5000);
    // Its clock is stopped, so that it sends no reports, as after a crash.
    const since = performance.now();
    await eventually(async () => {
      await a.clock.advance(1000);
      return (await a.read()) === null;
    }, 8000);
    expect(performance.now() - since).toBeGreaterThan(2500);
    setReady("a");
    expect(await a.read()).toMatchObject({ pending: 0 });
  }, 15_000);

  test("know nothing while Redis is away, log it once, and continue when it is back", async () => {
    const { redis, a, b } = await two();
    await redis.kill();
    await eventually(async () => (await a.read()) === null, 5000);
    for (let beat = 0; beat < 5; beat++) await a.clock.advance(1000);
    expect(await a.read()).toBeNull();
    await redis.run();
    await eventually(async () => {
      await a.clock.advance(1000);
      await b.clock.advance(1000);
      return (await a.read()) !== null && (await b.read()) !== null;
    }, 10_000);
    expect(a.lines.filter((line) => line.includes("could not exchange request counts"))).toHaveLength(1);
  }, 30_000);
});
