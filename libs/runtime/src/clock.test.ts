import { getEventListeners } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { sleep, systemClock } from "./clock.ts";
import { FakeClock } from "./testing/fake-clock.ts";

describe("sleep", () => {
  test("resolves when its time is over and not before", async () => {
    const clock = new FakeClock();
    let over = false;
    const done = sleep(clock, 100).then(() => (over = true));
    await clock.advance(99);
    expect(over).toBe(false);
    await clock.advance(1);
    expect(over).toBe(true);
    await done;
  });

  test("rejects with the signal's reason at once and leaves no timer", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const asleep = sleep(clock, 100, controller.signal);
    controller.abort(new Error("enough"));
    await expect(asleep).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });

  test("does not start when the signal has aborted already", async () => {
    const clock = new FakeClock();
    await expect(sleep(clock, 100, AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
    expect(clock.pending).toBe(0);
  });

  test("leaves no listener on the signal", async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const asleep = sleep(clock, 100, signal);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await clock.advance(100);
    await asleep;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("the system's clock", () => {
  test("tells wall time and a monotonic time apart", () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
    const earlier = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(earlier);
    expect(earlier).toBeLessThan(Date.now() / 2);
  });

  test("runs a task once after its delay", async () => {
    let runs = 0;
    await new Promise<void>((resolve) => {
      systemClock.schedule(1, () => {
        runs += 1;
        resolve();
      });
    });
    expect(runs).toBe(1);
  });

  test("does not run a task that was cancelled", async () => {
    let runs = 0;
    const cancel = systemClock.schedule(1, () => (runs += 1));
    cancel();
    // Timers of the same length run in the order in which they were made.
    await sleep(systemClock, 1);
    expect(runs).toBe(0);
  });

  test.each([
    ["one millisecond beyond what a timer of Node holds", 2 ** 31],
    ["a month", 30 * 86_400_000],
    ["for ever", Infinity],
  ])("does not cut short a wait of %s", async (_name, delay) => {
    let early = false;
    const cancel = systemClock.schedule(delay, () => (early = true));
    // Node runs a timer that is too long after one millisecond, and so before this one.
    await sleep(systemClock, 1);
    cancel();
    expect(early).toBe(false);
  });
});
