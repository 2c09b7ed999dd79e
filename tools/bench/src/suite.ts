import type { Result } from "./result.ts";

/** Rounds of one contender, for the plot. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  readonly middle: number;
}

/** One line of a plot, a value for each step of the horizontal axis. */
export interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

/** Bars of medians, or lines over something that goes from 0 to `most`. */
export type Plot =
  | { readonly title: string; readonly unit: string; readonly series: readonly Series[] }
  | {
      readonly title: string;
      readonly unit: string;
      readonly lines: readonly Line[];
      readonly across: Extent;
    };

/** How far the horizontal axis of a plot goes. */
export interface Extent {
  readonly most: number;
  readonly unit: string;
}

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
