import { type Clock, sleep } from "./clock.ts";

export interface Rate {
  /** Tokens that come back each second. */
  readonly perSecond: number;
  /** Tokens that a full bucket holds: the largest burst. */
  readonly burst: number;
}

/** A rate limit: a burst at once, then a steady flow. It starts full. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #rate: Rate;
  #tokens: number;
  #filledAt: number;

  constructor(clock: Clock, rate: Rate) {
    if (!(rate.perSecond > 0) || !(rate.burst >= 1)) {
      throw new RangeError(`A rate needs perSecond > 0 and burst >= 1, not ${rate.perSecond} and ${rate.burst}`);
    }
    this.#clock = clock;
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#filledAt = clock.monotonic();
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /**
   * Takes a token, waiting for it if need be. Waiters are served in the order of their calls; one that gives up by its signal
   * gives its place back.
   */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#fill();
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await sleep(this.#clock, (-this.#tokens / this.#rate.perSecond) * 1000, signal);
    } catch (aborted) {
      this.#tokens += 1;
      throw aborted;
    }
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + ((now - this.#filledAt) / 1000) * this.#rate.perSecond);
    this.#filledAt = now;
  }
}
