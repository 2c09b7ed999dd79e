import type { Course } from "./closed-loop.ts";
import { TTL } from "./plant.ts";
import type { Trace } from "./traces.ts";

/**
 * How far the base may be from its target and count as settled: the policy's tolerance, and a little for clients that
 * lag.
 */
export const SETTLED = 0.17;

/** What sums of doubles may be off by. */
const ROUNDING = 1e-9;

/** Seconds in which the base bears more than its target, each times the excess: 60 is a minute at twice the target. */
export function overload({ loads }: Course): number {
  return loads.reduce((sum, load) => (load > 1 + ROUNDING ? sum + load - 1 : sum), 0);
}

/** For each step of the load, the TTLs until the base is near its target and stays there up to the next step. */
export function settlingTimes({ loads }: Course, { steps, seconds }: Trace): readonly number[] {
  return steps.map((step, index) => {
    const end = steps[index + 1] ?? seconds;
    const last = loads.slice(step, end).findLastIndex((load) => Math.abs(load - 1) > SETTLED);
    return (last + 1) / TTL;
  });
}

/**
 * How often the weight changes between rising and falling between two moments, its last change before them included.
 */
export function reversals({ weights }: Course, from: number, to: number): number {
  let direction = 0;
  let turned = 0;
  for (let second = 1; second < to; second++) {
    const move = Math.sign((weights[second] ?? 0) - (weights[second - 1] ?? 0));
    if (move === 0) continue;
    if (second >= from && direction !== 0 && move !== direction) turned += 1;
    direction = move;
  }
  return turned;
}

/** The most reversals between the moment that a step has settled and the next step. */
export function reversalsAfterSettling(course: Course, trace: Trace): number {
  const settled = settlingTimes(course, trace);
  const counts = trace.steps.map((step, index) => {
    const end = trace.steps[index + 1] ?? trace.seconds;
    return reversals(course, step + (settled[index] ?? 0) * TTL, end);
  });
  return Math.max(0, ...counts);
}

/** How often the weight was changed while there was no measurement. */
export function movesInGaps({ weights }: Course, { gaps }: Trace): number {
  return gaps.reduce((moves, [from, to]) => {
    const inside = weights.slice(from, to);
    return moves + inside.filter((weight, index) => index > 0 && weight !== inside[index - 1]).length;
  }, 0);
}

/** Seconds in which the weight was outside the bounds. */
export function secondsOutside({ weights }: Course, minimum: number, maximum: number): number {
  return weights.filter((weight) => weight < minimum || weight > maximum).length;
}
