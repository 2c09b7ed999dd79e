import { badNumber, checkCount, checkTime } from "./checks.ts";

/** At most `limit` in any `window` milliseconds. */
export interface Budget {
  /** A whole number; 0 allows nothing. */
  readonly limit: number;
  /** A whole number of milliseconds, at least 1. What was spent at `t` counts until just before `t + window`. */
  readonly window: number;
}

export interface Allowance {
  readonly allowed: boolean;
  /** How many more are allowed at this time. */
  readonly remaining: number;
  /** The earliest time at which one more is allowed: the asked time if that is now, undefined if the limit is 0. */
  readonly nextAt: number | undefined;
  /**
   * When what still counts was spent, oldest first. Keep it in place of the history that was passed in: it holds
   * nothing older than the window, so what is kept never outgrows the limit.
   */
  readonly history: readonly number[];
}

/**
 * What the budget allows at `at`, in milliseconds. A time in `history` that is later than `at` means that the clock has
 * jumped back; it counts as spent now, so a jump shuts the budget for one window at most and never opens it.
 */
export function allowance({ limit, window }: Budget, history: readonly number[], at: number): Allowance {
  checkCount(limit, "the budget's limit");
  checkCount(window, "the budget's window");
  if (window === 0) throw badNumber(window, "the budget's window", "at least 1 millisecond");
  checkTime(at, "the time");
  for (const time of history) checkTime(time, "a time in the budget's history");

  const counted = history
    .map((time) => Math.min(time, at))
    .filter((time) => time + window > at)
    .sort((a, b) => a - b);
  const remaining = Math.max(0, limit - counted.length);
  if (remaining > 0) return { allowed: true, remaining, nextAt: at, history: counted };
  const blocking = counted[counted.length - limit];
  return {
    allowed: false,
    remaining,
    nextAt: blocking === undefined ? undefined : blocking + window,
    history: counted,
  };
}

/** Spends one at `at` if the budget allows it; `after` is the allowance that is left, and holds the history to keep. */
export function spend(
  budget: Budget,
  history: readonly number[],
  at: number,
): { readonly spent: boolean; readonly after: Allowance } {
  const before = allowance(budget, history, at);
  return before.allowed
    ? { spent: true, after: allowance(budget, [...before.history, at], at) }
    : { spent: false, after: before };
}
