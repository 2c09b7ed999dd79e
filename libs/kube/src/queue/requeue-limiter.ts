import type { Backoff, Clock, Rate } from "@evenkeel/runtime";

export interface RequeueLimits {
  /**
   * Milliseconds that a key waits after its first failure in a row, doubled with each further one, and the most it
   * waits.
   */
  readonly perKey: Backoff;
  /** How fast keys of all kinds may come back together. */
  readonly overall: Rate;
}

/** client-go's defaults for controllers. */
export const requeueLimits: RequeueLimits = {
  perKey: { base: 5, cap: 1_000_000 },
  overall: { perSecond: 10, burst: 100 },
};

/**
 * Says how long a key that failed waits before it is tried again: its own back-off, or its turn in the overall flow if
 * that is later.
 */
export class RequeueLimiter {
  readonly #clock: Clock;
  readonly #limits: RequeueLimits;
  readonly #failures = new Map<string, number>();
  /** When the overall bucket was or will be without a token; it has been filling since. */
  #emptyAt = -Infinity;

  constructor(clock: Clock, limits: RequeueLimits = requeueLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Failures of a key since it was last forgotten. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Counts a failure. Returns the wait in milliseconds. */
  failed(key: string): number {
    const { base, cap } = this.#limits.perKey;
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    return Math.max(Math.min(cap, base * 2 ** failures), this.#reserve());
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Takes a token that is there now or will be; returns how long until then. */
  #reserve(): number {
    const { perSecond, burst } = this.#limits.overall;
    const interval = 1000 / perSecond;
    const now = this.#clock.monotonic();
    this.#emptyAt = Math.max(this.#emptyAt, now - burst * interval) + interval;
    return Math.max(0, this.#emptyAt - now);
  }
}
