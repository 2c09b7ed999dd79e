import { type Backoff, type Clock, type Rate, TokenBucket } from "@evenkeel/runtime";

export interface WatchBackoffOptions extends Backoff {
  /** Milliseconds without another failure after which the wait starts at `base` again. */
  readonly healthyAfter: number;
  /** How often a watch that worked and then ended may be opened again without a wait. */
  readonly free: Rate;
}

/**
 * client-go's waits for a reflector, and enough watches without a wait for a proxy that ends idle connections every
 * minute.
 */
export const watchBackoff: WatchBackoffOptions = {
  base: 800,
  cap: 30_000,
  healthyAfter: 120_000,
  free: { perSecond: 1 / 6, burst: 10 },
};

/**
 * Decides how long to wait before the next request to the API server. Whatever the server does, the rate of requests is
 * bounded: requests without a wait by a token bucket, the others by waits that grow from `base` to `cap`.
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
   * Milliseconds to wait after a failure: between half the bound and all of it, so that clients that failed together do
   * not retry together. `asked` is what the server asked for; it is honoured up to `cap`.
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
