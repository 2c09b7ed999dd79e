import { type Clock, sleep } from "./clock.ts";
import { isRetryable } from "./error.ts";

export interface Backoff {
  /** Upper bound of the first wait, in milliseconds; it doubles with each try. */
  readonly base: number;
  /** Upper bound of every wait, in milliseconds. */
  readonly cap: number;
}

/**
 * The wait before try `attempt + 1`, with full jitter: anywhere between nothing and the bound, so that many callers
 * that failed together do not come back together
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
export function fullJitter({ base, cap }: Backoff, attempt: number, random: () => number): number {
  return random() * Math.min(cap, base * 2 ** attempt);
}

export interface RetryOptions extends Backoff {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Tries in all, the first included. */
  readonly attempts: number;
  readonly signal?: AbortSignal | undefined;
  /** By default what its catalogue entry calls retryable. */
  readonly retryable?: (error: unknown) => boolean;
  /** A wait that the other side asked for, in milliseconds; it is kept even beyond `cap`. */
  readonly retryAfter?: (error: unknown) => number | undefined;
}

/** Calls `work` until it succeeds, fails for good, or the tries are used up; then it rejects with the last error. */
export async function retry<T>(options: RetryOptions, work: (attempt: number) => Promise<T>): Promise<T> {
  const { clock, random, attempts, signal, retryable = isRetryable, retryAfter } = options;
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt + 1 >= attempts || !retryable(error)) throw error;
      await sleep(clock, Math.max(retryAfter?.(error) ?? 0, fullJitter(options, attempt, random)), signal);
    }
  }
}
