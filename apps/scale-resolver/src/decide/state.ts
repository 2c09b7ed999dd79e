/** The states of a service. */
export const STATES = ["Serve", "Guard", "Zero", "Wake"] as const;

/**
 * - `Serve`: out of the path; requests go straight to the pods.
 * - `Guard`: the resolver is in the path, passes requests through and counts them.
 * - `Zero`: no replicas; the next request wakes the service.
 * - `Wake`: replicas are asked for and none serves yet; requests are held.
 */
export type State = (typeof STATES)[number];

/** Why a service is in `Guard`: to fall asleep, or for any other reason. It decides the next transition. */
export type Purpose = "sleep" | "safety";

/** The state of a service and the circumstances at its start. Times are milliseconds since 1970. */
export interface Stage {
  readonly state: State;
  readonly since: number;
  readonly purpose: Purpose;
  /** The request count at the start of the state; null if unknown. */
  readonly requests: number | null;
}
