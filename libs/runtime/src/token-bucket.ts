import type { Clock } from "./clock.ts";

export interface Rate {
  /** Tokens that come back each second. */
  readonly perSecond: number;
  /** Tokens that a full bucket holds: the largest burst. */
  readonly burst: number;
}

/**
 * A rate limit: a burst at once, then a steady flow. It starts full. In no span of time does it give more than both
 * together.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #rate: Rate;
  /** Whoever waits, in the order of the calls. */
  readonly #waiting = new Set<() => void>();
  #cancelNext: () => void = () => undefined;
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

  /** Takes a token if one is free and no caller waits. */
  tryTake(): boolean {
    this.#fill();
    if (this.#waiting.size > 0 || this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /**
   * Takes a token, waiting for it if need be. Waiters are served in the order of their calls; when one gives up by its
   * signal, those behind it move up.
   */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const serve = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(serve);
        if (this.#waiting.size === 0) this.#cancelNext();
        reject(signal?.reason as Error);
      };
      this.#waiting.add(serve);
      signal?.addEventListener("abort", giveUp, { once: true });
      if (this.#waiting.size === 1) this.#awaitToken();
    });
  }

  /** Whole milliseconds, as timers count them: a shorter wait would find the token not quite there, again and again. */
  #awaitToken(): void {
    const milliseconds = Math.ceil(((1 - this.#tokens) / this.#rate.perSecond) * 1000);
    this.#cancelNext = this.#clock.schedule(milliseconds, () => this.#next());
  }

  #next(): void {
    this.#fill();
    for (const serve of this.#waiting) {
      if (this.#tokens < 1) break;
      this.#tokens -= 1;
      this.#waiting.delete(serve);
      serve();
    }
    if (this.#waiting.size > 0) this.#awaitToken();
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + ((now - this.#filledAt) / 1000) * this.#rate.perSecond);
    this.#filledAt = now;
  }
}
