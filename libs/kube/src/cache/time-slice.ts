import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type { Clock } from "@evenkeel/runtime";

/**
 * Keeps long work from blocking the event loop: work a little, then `if (slice.spent) await slice.rest()`. The check
 * alone creates no promise, so a loop can do it for every object.
 */
export class TimeSlice {
  readonly #clock: Clock;
  readonly #budget: number;
  #end: number;

  /** `budget` is in milliseconds. */
  constructor(clock: Clock, budget: number) {
    this.#clock = clock;
    this.#budget = budget;
    this.#end = clock.monotonic() + budget;
  }

  get spent(): boolean {
    return this.#clock.monotonic() >= this.#end;
  }

  /** Lets everything else that is due run, then starts a new slice. */
  async rest(): Promise<void> {
    await eventLoopTurn();
    this.#end = this.#clock.monotonic() + this.#budget;
  }
}
