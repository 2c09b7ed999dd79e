import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "../testing/fake-clock.ts";
import { FakeHost } from "../testing/fake-host.ts";
import { sleep } from "../clock.ts";
import { termUntil } from "./leadership.ts";
import { periodically } from "./periodically.ts";

/** Runs turns every 100 ms; `starts` are the times at which they began. */
function begin(turn: (count: number, clock: FakeClock) => Promise<void>) {
  const clock = new FakeClock();
  const host = new FakeHost();
  const controller = new AbortController();
  const starts: number[] = [];
  const loop = periodically({ clock, log: host.log(), interval: 100 }, () => {
    starts.push(clock.monotonic());
    return turn(starts.length, clock);
  });
  const done = loop(termUntil(controller.signal, 7n));
  return { clock, host, controller, starts, done };
}

describe("a periodic loop", () => {
  test("takes a turn at once and then one every interval", async () => {
    const { clock, starts } = begin(() => Promise.resolve());
    await clock.advance(350);
    expect(starts).toEqual([0, 100, 200, 300]);
  });

  test("counts the interval from the start of a turn, not from its end", async () => {
    const { clock, starts } = begin((_count, time) => sleep(time, 30));
    await clock.advance(250);
    expect(starts).toEqual([0, 100, 200]);
  });

  test("never has two turns at once: one that takes too long delays the next", async () => {
    let open = 0;
    let most = 0;
    const { clock, starts } = begin(async (_count, time) => {
      most = Math.max(most, ++open);
      await sleep(time, 250);
      open -= 1;
    });
    await clock.advance(600);
    expect([most, starts]).toEqual([1, [0, 250, 500]]);
  });

  test("does not make up for turns that it missed", async () => {
    const { clock, starts } = begin((count, time) => (count === 1 ? sleep(time, 1000) : Promise.resolve()));
    await clock.advance(1150);
    expect(starts).toEqual([0, 1000, 1100]);
  });

  test.each<[string, () => Promise<void>]>([
    ["rejects", () => Promise.reject(new Error("no sample"))],
    [
      "throws",
      () => {
        throw new Error("no sample");
      },
    ],
  ])("logs a turn that %s and takes the next in its time", async (_name, turn) => {
    const { clock, host, starts } = begin(turn);
    await clock.advance(100);
    expect(starts).toEqual([0, 100]);
    expect(host.lines).toHaveLength(2);
    expect(host.lines[0]).toMatchObject({ level: "error", error: { message: "no sample" } });
  });

  test("does not heed jumps of the wall clock", async () => {
    const { clock, starts } = begin(() => Promise.resolve());
    clock.jump(-3_600_000);
    await clock.advance(100);
    clock.jump(7_200_000);
    await clock.advance(99);
    expect(starts).toEqual([0, 100]);
  });

  test("gives each turn the term", async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const tokens: bigint[] = [];
    void periodically({ clock, log: new FakeHost().log(), interval: 1 }, ({ fencingToken }) =>
      Promise.resolve(void tokens.push(fencingToken)),
    )(termUntil(signal, 7n));
    await clock.advance(0);
    expect(tokens).toEqual([7n]);
  });

  test("ends at once when its term does, and leaves no timer", async () => {
    const { clock, controller, starts, done } = begin(() => Promise.resolve());
    await clock.advance(50);
    controller.abort();
    await done;
    expect([clock.pending, starts]).toEqual([0, [0]]);
  });

  test("ends after the turn that is under way, and does not log that it was interrupted", async () => {
    const turn = Promise.withResolvers<undefined>();
    const { clock, host, controller, done } = begin(() => turn.promise);
    controller.abort();
    turn.reject(new Error("interrupted"));
    await done;
    expect([host.lines, clock.pending]).toEqual([[], 0]);
  });

  test("takes no turn in a term that is over already", async () => {
    let turns = 0;
    const clock = new FakeClock();
    const loop = periodically({ clock, log: new FakeHost().log(), interval: 1 }, () =>
      Promise.resolve(void (turns += 1)),
    );
    await loop(termUntil(AbortSignal.abort(), 1n));
    expect(turns).toBe(0);
  });
});
