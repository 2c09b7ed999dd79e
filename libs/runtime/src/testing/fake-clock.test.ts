import { describe, expect, test } from "@jest/globals";
import { sleep } from "../clock.ts";
import { FakeClock } from "./fake-clock.ts";

describe("a fake clock", () => {
  test("stands still until it is moved", async () => {
    const clock = new FakeClock("2026-03-01T12:00:00Z");
    expect(new Date(clock.now()).toISOString()).toBe("2026-03-01T12:00:00.000Z");
    expect(clock.monotonic()).toBe(0);
    await clock.advance(1500);
    expect(new Date(clock.now()).toISOString()).toBe("2026-03-01T12:00:01.500Z");
    expect(clock.monotonic()).toBe(1500);
  });

  test("jumps on the wall alone, and timers do not notice", async () => {
    const clock = new FakeClock(0);
    let ran = false;
    clock.schedule(10, () => (ran = true));
    clock.jump(3_600_000);
    await clock.advance(9);
    expect([clock.now(), clock.monotonic(), ran]).toEqual([3_600_009, 9, false]);
  });

  test("runs timers in the order of their times, equal ones in the order they were set", async () => {
    const clock = new FakeClock(0);
    const ran: [string, number][] = [];
    for (const [name, delay] of Object.entries({ late: 30, first: 10, second: 10, soon: 5 })) {
      clock.schedule(delay, () => ran.push([name, clock.monotonic()]));
    }
    await clock.advance(30);
    expect(ran).toEqual([
      ["soon", 5],
      ["first", 10],
      ["second", 10],
      ["late", 30],
    ]);
  });

  test("runs a timer that an earlier one set, in the same advance and at its own time", async () => {
    const clock = new FakeClock(0);
    const woke: number[] = [];
    const twice = async () => {
      await sleep(clock, 10);
      woke.push(clock.monotonic());
      await sleep(clock, 10);
      woke.push(clock.monotonic());
    };
    const done = twice();
    await clock.advance(100);
    await done;
    expect(woke).toEqual([10, 20]);
  });

  test("counts the timers that wait", async () => {
    const clock = new FakeClock(0);
    const cancel = clock.schedule(10, () => undefined);
    clock.schedule(20, () => undefined);
    expect(clock.pending).toBe(2);
    cancel();
    expect(clock.pending).toBe(1);
    await clock.advance(20);
    expect(clock.pending).toBe(0);
  });

  test("takes a negative delay as none", async () => {
    const clock = new FakeClock(0);
    let ran = false;
    clock.schedule(-5, () => (ran = true));
    await clock.advance(0);
    expect([ran, clock.monotonic()]).toEqual([true, 0]);
  });
});
