/**
 * Milliseconds from `then` to `now`; Infinity without `then`. If the clock was set back, `then` is in the future:
 * nothing has elapsed, and `rewound` restarts the wait, so that the jump neither shortens nor prolongs it.
 */
export function elapsedSince(then: number | null, now: number): number {
  return then === null ? Infinity : Math.max(0, now - then);
}

/** The time to remember instead of `then`: never in the future. */
export function rewound(then: number | null, now: number): number | null {
  return then === null ? null : Math.min(then, now);
}
