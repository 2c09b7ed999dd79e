import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type { Clock } from "@evenkeel/runtime";

/**
 * Keeps long work from holding up the event loop: do a little, and `if (slice.spent) await slice.rest()`. The check
 * alone costs no promise, so it can stand in a loop over every object.
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

  /** Lets everything else that is due run, then begins a new slice. */
  async rest(): Promise<void> {
    await eventLoopTurn();
    this.#end = this.#clock.monotonic() + this.#budget;
  }
}
