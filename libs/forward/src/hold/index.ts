export { heldBytes } from "./held-bytes.ts";
export { type Entry, Hold, type HoldOptions, type Room, type Waiting } from "./hold.ts";
export { HOLD_OUTCOMES, type HoldOutcome, type Settlement, type Slot } from "./outcome.ts";
export type { QueuedRequest } from "./queued-request.ts";
