export {
  heldBytes,
  HeldExchanges,
  type HeldExchangesOptions,
  type HoldRequest,
  type Unreleased,
} from "./held-exchanges.ts";
export { type Entry, Hold, type HoldOptions, type Room, type Waiting } from "./hold.ts";
export { HOLD_OUTCOMES, type HoldOutcome, type Settlement, type Slot } from "./outcome.ts";
export type { Place } from "./place.ts";
