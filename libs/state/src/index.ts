export { type Address, parseAddress } from "./address.ts";
export { DecisionStream, type DecisionStreamOptions } from "./decisions/decision-stream.ts";
export * as stateErrors from "./errors.ts";
export { Keys } from "./keys.ts";
export { openState, type StateHost } from "./open-state.ts";
export { stateSettings } from "./settings.ts";
export type {
  Counters,
  Counts,
  Edges,
  Entry,
  EntryId,
  Fence,
  Gap,
  Notice,
  Page,
  Records,
  State,
  StoredRecord,
  Streams,
  Version,
  WriteTerms,
} from "./state.ts";
