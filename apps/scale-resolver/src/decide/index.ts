export { type Obstacle, obstacles } from "./obstacles.ts";
export { REASONS, type Reason } from "./reason.ts";
export type * from "./snapshot.ts";
export { type Purpose, type Stage, type State, STATES } from "./state.ts";
export { ACTIONS, type Action, stateDecider, type StateVerdict } from "./state-decider.ts";
