import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { TICK, Timed, Wheel } from "./wheel.ts";

class Alarm extends Timed {
  readonly at: number[] = [];
  readonly #clock: FakeClock;
  readonly #act: (alarm: Alarm) => void;

  constructor(clock: FakeClock, act: (alarm: Alarm) => void = () => undefined) {
    super();
    this.#clock = clock;
    this.#act = act;
  }

  override expire(): void {
    this.at.push(this.#clock.monotonic());
    this.#act(this);
  }
}

function build() {
  const clock = new FakeClock();
  return { clock, wheel: new Wheel(clock), start: clock.monotonic() };
}

describe("the wheel", () => {
  test.each([1, 25, 40, 100, 999, 5_000, 12_800, 60_000])(
    "wakes after %i ms: never early, and late by two ticks at most",
    async (delay) => {
      const { clock, wheel, start } = build();
      const alarm = new Alarm(clock);
      // The wheel is already turning, and in the middle of a tick.
      wheel.set(new Alarm(clock), 100_000);
      await clock.advance(10);
      wheel.set(alarm, delay);
      await clock.advance(delay + 3 * TICK);
      expect(alarm.at).toHaveLength(1);
      const waited = (alarm.at[0] ?? 0) - start - 10;
      expect(waited).toBeGreaterThanOrEqual(delay);
      expect(waited).toBeLessThanOrEqual(delay + 2 * TICK);
    },
  );

  test("is not early for what was set while the event loop was busy, so that the wheel stands where it stood before", async () => {
    const clock = new FakeClock();
    let busy = 0;
    const late = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic() + busy,
      schedule: clock.schedule.bind(clock),
    };
    const wheel = new Wheel(late);
    const alarm = new Alarm(clock);
    wheel.set(new Alarm(clock), 100_000);
    await clock.advance(10);
    busy = 300;
    wheel.set(alarm, 1_000);
    await clock.advance(2_000);
    expect(alarm.at[0]).toBeGreaterThanOrEqual(1_010);
    expect(alarm.at[0]).toBeLessThanOrEqual(1_010 + 2 * TICK);
  });

  test("does not wake what was cleared, and wakes once what was set again", async () => {
    const { clock, wheel } = build();
    const [cleared, again] = [new Alarm(clock), new Alarm(clock)];
    wheel.set(cleared, 100);
    wheel.set(again, 100);
    wheel.clear(cleared);
    wheel.clear(cleared);
    await clock.advance(50);
    wheel.set(again, 200);
    await clock.advance(1_000);
    expect([cleared.at.length, again.at.length, wheel.size]).toEqual([0, 1, 0]);
  });

  test("has no timer while nothing is in, and turns again later", async () => {
    const { clock, wheel } = build();
    const alarm = new Alarm(clock);
    expect(wheel.turning).toBe(false);
    wheel.set(alarm, 100);
    expect(wheel.turning).toBe(true);
    await clock.advance(500);
    expect(wheel.turning).toBe(false);
    wheel.set(alarm, 100);
    await clock.advance(500);
    expect(alarm.at).toHaveLength(2);
  });

  test("lets those it wakes set and clear one another, and themselves", async () => {
    const { clock, wheel } = build();
    const second = new Alarm(clock);
    const first = new Alarm(clock, () => wheel.clear(second));
    const repeating = new Alarm(clock, (alarm) => {
      if (alarm.at.length < 3) wheel.set(alarm, 100);
    });
    wheel.set(second, 100);
    wheel.set(first, 100);
    wheel.set(repeating, 100);
    await clock.advance(2_000);
    expect([first.at.length, second.at.length, repeating.at.length, wheel.size]).toEqual([1, 0, 3, 0]);
  });
});
