import type { Result } from "./result.ts";

/** Rounds of one contender, for the plot. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  readonly middle: number;
}

export interface Outcome {
  readonly results: readonly Result[];
  readonly plot: { readonly title: string; readonly unit: string; readonly series: readonly Series[] };
}

/** A measurement whose bars are ratios inside one run: machines are shared and noisy. */
export interface Suite {
  readonly name: string;
  readonly about: string;
  /** `progress` gets a line for each step of a run that takes longer than a few seconds. */
  run(progress: (line: string) => void): Promise<Outcome>;
}
