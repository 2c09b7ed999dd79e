export { heldBytes } from "./held-bytes.ts";
export { type Entry, Hold, type Room } from "./hold.ts";
export type { HoldOutcome, Settlement, Slot } from "./outcome.ts";
export type { QueuedRequest } from "./queued-request.ts";
