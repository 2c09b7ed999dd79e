/** How much is measured. */
export interface Extent {
  /** Requests of each cold burst. */
  readonly cold: readonly number[];
  /** Bursts whose call to the API server is timed. */
  readonly wakes: number;
  /** Requests until code counts as warm. */
  readonly warmUp: number;
  /** Bursts that are released: how many wait, and how often, warm and by fresh processes. */
  readonly handOffs: readonly { readonly held: number; readonly rounds: number; readonly fresh: number }[];
  /** Requests that wait while memory is looked at. */
  readonly memory: readonly number[];
  /** Floods, each between two rests. */
  readonly floods: number;
}

export const WHOLE: Extent = {
  cold: [100, 500, 2000, 10_000],
  wakes: 30,
  warmUp: 30_000,
  handOffs: [
    { held: 500, rounds: 15, fresh: 7 },
    { held: 5000, rounds: 15, fresh: 5 },
  ],
  memory: [1000, 10_000],
  floods: 3,
};
