import type { Clock } from "@evenkeel/runtime";

/** Milliseconds. The longest window of a budget: after this, nothing from before a jump counts any more. */
const LONGEST_WINDOW = 3_600_000;
/** Milliseconds by which the wall clock may run ahead before that is a jump. */
const SLACK = 5000;

/**
 * The time by which windows of budgets are counted. When the wall clock jumps ahead, as by NTP or an operator, this one
 * goes on as before for an hour: a jump must not give back what was spent. It never runs ahead of the wall clock.
 */
export class WindowClock {
  readonly #clock: Clock;
  /** Wall time less monotonic time, as long as no jump is seen. */
  #offset: number;
  /** Monotonic time at which a jump ahead was seen. */
  #jumpedAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.monotonic();
  }

  now(): number {
    const [wall, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    const ahead = wall - (monotonic + this.#offset);
    if (ahead > SLACK) {
      this.#jumpedAt ??= monotonic;
      if (monotonic - this.#jumpedAt < LONGEST_WINDOW) return monotonic + this.#offset;
    }
    this.#offset = wall - monotonic;
    this.#jumpedAt = undefined;
    return wall;
  }
}
