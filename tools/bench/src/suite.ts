import type { Result } from "./result.ts";

/** Rounds of one contender, for the plot. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  readonly middle: number;
}

/** One line of a plot over time, a value for each step of it. */
export interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

/** Bars of medians, or lines over minutes. */
export type Plot =
  | { readonly title: string; readonly unit: string; readonly series: readonly Series[] }
  | { readonly title: string; readonly unit: string; readonly lines: readonly Line[]; readonly minutes: number };

export interface Outcome {
  readonly results: readonly Result[];
  readonly plot: Plot;
}

/** A measurement whose bars are ratios inside one run: machines are shared and noisy. */
export interface Suite {
  readonly name: string;
  readonly about: string;
  /** `progress` gets a line for each step of a run that takes longer than a few seconds. */
  run(progress: (line: string) => void): Promise<Outcome>;
}
