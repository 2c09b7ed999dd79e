import { WrongOrder } from "./errors.ts";
import { checkFinite, checkNotNegative, checkTime } from "./checks.ts";
import { decimalSum } from "./rational.ts";

export type Level = "below" | "within" | "above";

/**
 * Two thresholds, each with a value to enter and a value to leave, and how long samples must stay beyond it.
 *
 *     above    ≥ high.enter to enter, < high.leave to leave
 *     within
 *     below    ≤ low.enter to enter, > low.leave to leave
 */
export interface Band {
  readonly high: Edge;
  readonly low: Edge;
  /** Milliseconds for which samples must point to another level before it is taken; 0 takes it at once. */
  readonly dwell: number;
}

export interface Edge {
  readonly enter: number;
  readonly leave: number;
}

/** Plain data: keep it as JSON between samples. Start with {@link startWithin}. */
export interface BandState {
  readonly level: Level;
  /** When the level was taken, in milliseconds. */
  readonly since: number;
  /** The level that samples point to instead; the nearest of them. */
  readonly pending?: Pending;
}

export interface Pending {
  readonly level: Level;
  /** Milliseconds between known samples that all pointed there or beyond. */
  readonly dwelt: number;
  /** The time of the last sample, absent if it was unknown. */
  readonly seenAt?: number;
}

/**
 * - `Steady`: the sample points to the level that holds.
 * - `Dwelling`: it points to another, but has not done so for long enough.
 * - `Crossed`: it has; the level changed.
 * - `Unknown`: there was no sample; the level stays.
 */
export type BandReason = "Steady" | "Dwelling" | "Crossed" | "Unknown";

export interface Classification {
  /** The very object that was passed in if nothing in it changed. */
  readonly state: BandState;
  readonly changed: boolean;
  readonly reason: BandReason;
}

/**
 * A band between `low` and `high` that is left only `margin` further inside than it was entered; exact for decimals.
 */
export function bandWithMargin(low: number, high: number, margin: number, dwell: number): Band {
  checkFinite(low, "the band's low threshold");
  checkFinite(high, "the band's high threshold");
  checkNotNegative(margin, "the band's margin");
  return {
    low: { enter: low, leave: decimalSum(low, margin) },
    high: { enter: high, leave: decimalSum(high, -margin) },
    dwell,
  };
}

export function startWithin(at: number): BandState {
  checkTime(at, "the time");
  return { level: "within", since: at };
}

/**
 * The level after one more sample, taken at `at` milliseconds. A level changes only after samples have pointed away
 * from it for the band's dwell; time next to an unknown sample (`undefined`) does not count, and a sample that points
 * back starts the dwell over. If they pointed to two levels on the same side, the nearer is taken. NaN and the
 * infinities are refused. A time before the last one counts as no time passed.
 */
export function classify(band: Band, state: BandState, sample: number | undefined, at: number): Classification {
  checkBand(band);
  checkTime(at, "the sample's time");
  if (sample === undefined) return { state: withoutSight(state), changed: false, reason: "Unknown" };
  checkFinite(sample, "the sample");

  const level = pointedTo(band, state.level, sample);
  if (level === state.level) {
    const steady = state.pending === undefined ? state : { level, since: state.since };
    return { state: steady, changed: false, reason: "Steady" };
  }
  const pending = pendingAfter(state, level);
  const dwelt = pending.dwelt + Math.max(0, at - (pending.seenAt ?? at));
  return dwelt >= band.dwell
    ? { state: { level: pending.level, since: at }, changed: true, reason: "Crossed" }
    : { state: { ...state, pending: { level: pending.level, dwelt, seenAt: at } }, changed: false, reason: "Dwelling" };
}

/**
 * What a sample that points to `level` makes of the pending level. From one end, the other end and what lies between
 * count together: noise around the low edge must not hold a level above.
 */
function pendingAfter(state: BandState, level: Level): Pending {
  if (state.pending?.level === level) return state.pending;
  if (state.pending === undefined || state.level === "within") return { level, dwelt: 0 };
  return { ...state.pending, level: "within" };
}

/**
 * Where a sample points from `level`. To come in counts before to stay in, so overlapping edges do not trap a level.
 */
function pointedTo({ high, low }: Band, level: Level, sample: number): Level {
  if (sample >= high.enter) return "above";
  if (sample <= low.enter) return "below";
  if (level === "above" && sample >= high.leave) return "above";
  if (level === "below" && sample <= low.leave) return "below";
  return "within";
}

function withoutSight(state: BandState): BandState {
  if (state.pending?.seenAt === undefined) return state;
  const { level, dwelt } = state.pending;
  return { ...state, pending: { level, dwelt } };
}

function checkBand({ high, low, dwell }: Band): void {
  checkNotNegative(dwell, "the band's dwell");
  checkOrder("the low edge's enter", low.enter, "its leave", low.leave);
  checkOrder("the high edge's leave", high.leave, "its enter", high.enter);
  checkOrder("the low edge's enter", low.enter, "the high edge's enter", high.enter);
}

function checkOrder(lower: string, low: number, upper: string, high: number): void {
  checkFinite(low, lower);
  checkFinite(high, upper);
  if (low > high) throw new WrongOrder({ lower: `${lower}, ${low},`, upper: `${upper}, ${high}` });
}
