/** What a query answers at a moment: the true value, scaled; no sample at all; or NaN. */
export type Sight = number | "no data" | "NaN";

/** A load over time, in seconds and the metric's unit, and how it is measured. */
export interface Trace {
  readonly name: string;
  readonly seconds: number;
  load(second: number): number;
  /** The factor by which a measurement is off, or that there is none. `sample` counts the measurements. */
  sight(second: number, sample: number): Sight;
  /** When the load jumps. */
  readonly steps: readonly number[];
  /** When there is no measurement: from, to. */
  readonly gaps: readonly (readonly [from: number, to: number])[];
}

const HOUR = 3600;
const clear = () => 1;

/** Uniform from 0 to 1, the same for the same number: runs can be compared. */
function scatter(seed: number): number {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/** About normal, with a standard deviation of 1. */
function normal(seed: number): number {
  let sum = -6;
  for (let part = 0; part < 12; part++) sum += scatter(seed * 12 + part);
  return sum;
}

const steady = { seconds: HOUR, load: () => 3000, sight: clear, steps: [], gaps: [] };
const GAPS = [
  [600, 1200],
  [2100, 2700],
] as const;

/** A load that doubles and halves again, each `phase` seconds after a reconcile of the controller. */
export function stepTrace(phase: number): Trace {
  const [up, down] = [600 + phase, 2100 + phase];
  return {
    ...steady,
    name: "step",
    load: (second) => (second >= up && second < down ? 3000 : 1500),
    steps: [up, down],
  };
}

/** Loads against a target of 1000 with a base of 8. */
export const traces: readonly Trace[] = [
  stepTrace(0),
  { ...steady, name: "ramp", load: (second) => 1100 + 2900 * Math.min(1, Math.max(0, (second - 300) / 2400)) },
  {
    ...steady,
    name: "daily",
    seconds: 24 * HOUR,
    load: (second) => 2400 - 1600 * Math.cos((2 * Math.PI * second) / (24 * HOUR)),
  },
  { ...steady, name: "noise", sight: (_second, sample) => 1 + 0.1 * normal(sample) },
  {
    ...steady,
    name: "gaps",
    sight: (second) => {
      const gap = GAPS.findIndex(([from, to]) => second >= from && second < to);
      return gap === 0 ? "no data" : gap === 1 ? "NaN" : 1;
    },
    gaps: GAPS,
  },
  // A counter that starts anew loses what was counted since the last scrape: one measurement of many is too low.
  { ...steady, name: "counter reset", sight: (_second, sample) => (sample % 60 === 30 ? 0.5 : 1) },
  { ...steady, name: "peak", load: (second) => (second >= 600 && second < 1800 ? 60_000 : 3000) },
];
