import { type Backoff, type Clock, type Rate, TokenBucket } from "@evenkeel/runtime";

export interface WatchBackoffOptions extends Backoff {
  /** Milliseconds without a further failure after which the wait begins at `base` again. */
  readonly healthyAfter: number;
  /** Watches that were of use and then ended may be opened again without a wait this often. */
  readonly free: Rate;
}

/**
 * client-go's waits for a reflector, and an allowance that lets an idle time-out of a proxy every minute pass
 * unnoticed.
 */
export const watchBackoff: WatchBackoffOptions = {
  base: 800,
  cap: 30_000,
  healthyAfter: 120_000,
  free: { perSecond: 1 / 6, burst: 10 },
};

/**
 * Says how long to wait before the API server is asked again. Whatever the server does, requests stay bounded: those
 * without a wait by the allowance, the others by waits that grow from `base` to `cap`.
 */
export class WatchBackoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #options: WatchBackoffOptions;
  readonly #free: TokenBucket;
  #failures = 0;
  #resumedAt = -Infinity;

  constructor(clock: Clock, random: () => number, options: WatchBackoffOptions = watchBackoff) {
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
    this.#free = new TokenBucket(clock, options.free);
  }

  /** Milliseconds to wait after a watch that worked for a while. */
  afterUse(): number {
    return this.#free.tryTake() ? 0 : this.afterFailure();
  }

  /**
   * Milliseconds to wait after a failure: between half the bound and all of it, so that clients that failed together
   * come back apart. `asked` is what the server asked for; it is kept up to `cap`.
   */
  afterFailure(asked = 0): number {
    const { base, cap, healthyAfter } = this.#options;
    const now = this.#clock.monotonic();
    if (now - this.#resumedAt > healthyAfter) this.#failures = 0;
    const bound = Math.min(cap, 2 * base * 2 ** this.#failures);
    if (bound < cap) this.#failures += 1;
    const wait = Math.max(bound * (0.5 + this.#random() / 2), Math.min(asked, cap));
    this.#resumedAt = now + wait;
    return wait;
  }
}
