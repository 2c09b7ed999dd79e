import type { Backoff, Clock, Rate } from "@evenkeel/runtime";

export interface RequeueLimits {
  /**
   * Milliseconds that a key waits after its first failure in a row, doubled with each further failure, and the maximum.
   */
  readonly perKey: Backoff;
  /** The rate at which all keys together are requeued. */
  readonly overall: Rate;
}

/** client-go's defaults for controllers, but at most 5 minutes instead of 1000 s: what has healed is noticed sooner. */
export const requeueLimits: RequeueLimits = {
  perKey: { base: 5, cap: 300_000 },
  overall: { perSecond: 10, burst: 100 },
};

/**
 * Decides how long a failed key waits before its retry: its own back-off, or the overall rate if that is later.
 */
export class RequeueLimiter {
  readonly #clock: Clock;
  readonly #limits: RequeueLimits;
  readonly #failures = new Map<string, number>();
  /** When the overall bucket was or will be empty; it fills from then on. */
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

  /** Takes a present or future token; returns the milliseconds until then. */
  #reserve(): number {
    const { perSecond, burst } = this.#limits.overall;
    const interval = 1000 / perSecond;
    const now = this.#clock.monotonic();
    this.#emptyAt = Math.max(this.#emptyAt, now - burst * interval) + interval;
    return Math.max(0, this.#emptyAt - now);
  }
}
