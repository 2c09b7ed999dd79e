import type { State } from "../state.ts";

/** The store under test and two handles on it, as two replicas have. */
export interface Replicas {
  readonly one: State;
  readonly other: State;
  readonly elapse: (milliseconds: number) => Promise<void>;
}
