/** Where a service stands. */
export const STATES = ["Serve", "Guard", "Zero", "Wake"] as const;

/**
 * - `Serve`: out of the path; requests go straight to the pods.
 * - `Guard`: the resolver is in the path, passes requests through and counts them.
 * - `Zero`: no replicas; the next request wakes the service.
 * - `Wake`: replicas are asked for and none serves yet; requests are held.
 */
export type State = (typeof STATES)[number];

/** Why a service is in `Guard`, which decides how it leaves it: on the way to sleep, or for any other reason. */
export type Purpose = "sleep" | "safety";

/** Where a service stands, and what that began with. Times are milliseconds since 1970. */
export interface Stage {
  readonly state: State;
  readonly since: number;
  readonly purpose: Purpose;
  /** The count of requests when this began; null where it was unknown. */
  readonly requests: number | null;
}
