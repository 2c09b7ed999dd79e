/**
 * How the wait of a request ends. The list is complete.
 *
 * - `released`: an upstream has a slot for it.
 * - `overflowCount`, `overflowBytes`: there was no room for it, of its key or of all keys together.
 * - `deadline`: no slot came in time.
 * - `clientGone`: its client left; it must not be forwarded.
 * - `drained`: the owner stops, or its key is no longer served.
 */
export const HOLD_OUTCOMES = [
  "released",
  "overflowCount",
  "overflowBytes",
  "deadline",
  "clientGone",
  "drained",
] as const;

export type HoldOutcome = (typeof HOLD_OUTCOMES)[number];

/**
 * Permission to send one request to `upstream`. It counts against the upstream's cap until `done` is called. Further
 * calls do nothing.
 */
export interface Slot<Upstream> {
  readonly upstream: Upstream;
  done(): void;
}

/** The end of one wait. `waited` is in milliseconds. */
export type Settlement<Upstream> =
  | { readonly outcome: "released"; readonly waited: number; readonly slot: Slot<Upstream> }
  | { readonly outcome: Exclude<HoldOutcome, "released">; readonly waited: number };
