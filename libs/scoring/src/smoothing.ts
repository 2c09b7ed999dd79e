import { checkFinite, checkNotNegative, checkTime } from "./checks.ts";

/**
 * A smoothed value and the time of its last known sample, in milliseconds. Plain data: keep it as JSON between samples.
 */
export interface Smoothed {
  readonly value: number;
  readonly at: number;
}

/**
 * An exponentially weighted moving average for samples at irregular times. After `timeConstant` milliseconds of a new
 * level the value has come 63 % of the way to it, after three 95 %, however many samples told it so. A time constant of
 * 0 does not smooth.
 *
 * An unknown sample (`undefined`) changes nothing; before the first known one there is no value. NaN and the infinities
 * are refused. A sample that is not later than the last one weighs nothing but sets the time, so a clock that jumped
 * back delays the value by one sample and does not freeze it.
 */
export function smooth(
  state: Smoothed | undefined,
  sample: number | undefined,
  at: number,
  timeConstant: number,
): Smoothed | undefined {
  checkTime(at, "the sample's time");
  checkNotNegative(timeConstant, "the time constant");
  if (sample === undefined) return state;
  checkFinite(sample, "the sample");
  if (state === undefined || timeConstant === 0) return { value: sample, at };
  checkFinite(state.value, "the smoothed value");
  checkTime(state.at, "the smoothed value's time");

  const elapsed = Math.max(0, at - state.at) / timeConstant;
  const mean = state.value * Math.exp(-elapsed) - sample * Math.expm1(-elapsed);
  return { value: clamp(mean, Math.min(state.value, sample), Math.max(state.value, sample)), at };
}

/** Rounding may carry a mean past its ends by the last digit. */
function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
