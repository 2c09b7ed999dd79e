import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { FakeClock } from "./testing/fake-clock.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Takes by name; `served` says who got a token and when. */
function counter(perSecond: number, burst: number) {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, { perSecond, burst });
  const served: [string, number][] = [];
  const take = (name: string, signal?: AbortSignal) =>
    bucket.take(signal).then(
      () => void served.push([name, clock.monotonic()]),
      () => undefined,
    );
  return { clock, bucket, served, take };
}

describe("a token bucket", () => {
  test("gives its burst at once and then one token after the other", async () => {
    const { clock, served, take } = counter(2, 3);
    for (const name of ["a", "b", "c", "d", "e"]) void take(name);
    await clock.advance(999);
    expect(served).toEqual([
      ["a", 0],
      ["b", 0],
      ["c", 0],
      ["d", 500],
    ]);
    await clock.advance(1);
    expect(served.at(-1)).toEqual(["e", 1000]);
    expect(clock.pending).toBe(0);
  });

  test("does not save up more than its burst", async () => {
    const { clock, bucket } = counter(10, 2);
    await clock.advance(3_600_000);
    expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
  });

  test("does not heed jumps of the wall clock", () => {
    const { clock, bucket } = counter(1, 1);
    expect(bucket.tryTake()).toBe(true);
    clock.jump(3_600_000);
    expect(bucket.tryTake()).toBe(false);
    clock.jump(-7_200_000);
    expect(bucket.tryTake()).toBe(false);
  });

  test("has a token that is only asked for again exactly when it is back", async () => {
    const { clock, bucket } = counter(4, 1);
    expect(bucket.tryTake()).toBe(true);
    await clock.advance(249);
    expect(bucket.tryTake()).toBe(false);
    await clock.advance(1);
    expect(bucket.tryTake()).toBe(true);
  });

  test("does not let someone who does not wait pass those who do", async () => {
    const { clock, bucket, served, take } = counter(1, 1);
    for (const name of ["a", "b", "c"]) void take(name);
    await clock.advance(1000);
    expect(bucket.tryTake()).toBe(false);
    await clock.advance(1000);
    expect(served).toEqual([
      ["a", 0],
      ["b", 1000],
      ["c", 2000],
    ]);
  });

  test("lets the others move up when a waiter gives up", async () => {
    const { clock, served, take } = counter(1, 1);
    const controller = new AbortController();
    void take("a");
    void take("gives up", controller.signal);
    void take("b");
    await clock.advance(500);
    controller.abort();
    void take("c");
    await clock.advance(2000);
    expect(served).toEqual([
      ["a", 0],
      ["b", 1000],
      ["c", 2000],
    ]);
    expect(clock.pending).toBe(0);
  });

  test("leaves no timer behind when the last waiter gives up, and keeps its token for the next", async () => {
    const { clock, bucket, take } = counter(1, 1);
    const controller = new AbortController();
    void take("a");
    void take("gives up", controller.signal);
    controller.abort();
    expect(clock.pending).toBe(0);
    await clock.advance(1000);
    expect(bucket.tryTake()).toBe(true);
  });

  test("gives nothing to a caller whose signal has aborted already", async () => {
    const { bucket } = counter(1, 1);
    await expect(bucket.take(AbortSignal.abort(new Error("stopping")))).rejects.toThrow("stopping");
    expect(bucket.tryTake()).toBe(true);
  });

  test("rejects a waiter with its signal's reason", async () => {
    const { bucket } = counter(1, 1);
    const controller = new AbortController();
    await bucket.take();
    const waiting = bucket.take(controller.signal);
    controller.abort(new Error("stopping"));
    await expect(waiting).rejects.toThrow("stopping");
  });

  test("serves all waiters whose tokens came back within one tick of the clock", async () => {
    const { clock, served, take } = counter(50_000, 50);
    for (let n = 0; n < 100; n++) void take(String(n));
    await clock.advance(0);
    expect(served).toHaveLength(50);
    await clock.advance(1);
    expect(served.map(([name]) => Number(name))).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  test("does not make up for a timer that came late by a larger burst", async () => {
    let now = 0;
    let fire: () => void = () => undefined;
    const schedule = (_delay: number, task: () => void) => {
      fire = task;
      return () => undefined;
    };
    const bucket = new TokenBucket({ now: () => now, monotonic: () => now, schedule }, { perSecond: 1, burst: 2 });
    let given = 0;
    const takes = Array.from({ length: 6 }, () => bucket.take().then(() => (given += 1)));
    await Promise.all(takes.slice(0, 2));
    now = 60_000;
    fire();
    await Promise.all(takes.slice(2, 4));
    expect([given, bucket.tryTake()]).toEqual([4, false]);
  });

  test.each([
    [0, 1],
    [-1, 1],
    [NaN, 1],
    [1, 0],
    [1, NaN],
  ])("refuses %d tokens a second with a burst of %d", (perSecond, burst) => {
    expect(() => new TokenBucket(new FakeClock(), { perSecond, burst })).toThrow(RangeError);
  });

  type Step = { take: "wait" } | { take: "try" } | { giveUp: number } | { pass: number };
  // `giveUp` names the waiter; `pass` counts quarters of the time that a token takes to come back.
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ take: "wait" }) },
    { weight: 2, arbitrary: fc.constant<Step>({ take: "try" }) },
    { weight: 2, arbitrary: fc.record({ giveUp: fc.nat(6) }) },
    { weight: 3, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 12 }) }) },
  );

  test("never exceeds its rate in any window, serves in order, and serves everyone who stays", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0.5, 1, 3, 7, 50),
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 30 }),
        async (perSecond, burst, steps) => {
          const clock = new FakeClock();
          const bucket = new TokenBucket(clock, { perSecond, burst });
          const at: number[] = [];
          const served: number[] = [];
          const waiters: AbortController[] = [];
          const settled: Promise<void>[] = [];
          for (const action of steps) {
            if ("pass" in action) await clock.advance((action.pass * 250) / perSecond);
            else if ("giveUp" in action) waiters[action.giveUp]?.abort();
            else if (action.take === "try") {
              if (bucket.tryTake()) at.push(clock.monotonic());
            } else {
              const controller = new AbortController();
              const index = waiters.push(controller) - 1;
              settled.push(
                bucket.take(controller.signal).then(
                  () => {
                    at.push(clock.monotonic());
                    served.push(index);
                  },
                  () => expect(controller.signal.aborted).toBe(true),
                ),
              );
            }
          }
          await clock.advance((waiters.length / perSecond) * 1000 + 2 * waiters.length);
          await Promise.all(settled);
          expect(served).toEqual(served.toSorted((a, b) => a - b));
          at.forEach((from, first) =>
            at.slice(first).forEach((to, more) => {
              expect(more + 1).toBeLessThanOrEqual(burst + ((to - from) / 1000) * perSecond + 1e-6);
            }),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
