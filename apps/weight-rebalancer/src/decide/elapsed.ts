/**
 * Milliseconds from `then` to `now`; without end where there is no `then`. A `then` in the future comes from a clock that was put
 * back: nothing has elapsed, and `rewound` starts the wait anew, so that it is neither cut short nor drawn out by the jump.
 */
export function elapsedSince(then: number | null, now: number): number {
  return then === null ? Infinity : Math.max(0, now - then);
}

/** The time to remember instead of `then`: never in the future. */
export function rewound(then: number | null, now: number): number | null {
  return then === null ? null : Math.min(then, now);
}
