/** A collector that may own targets. Only the record makes one a member: nothing moves because a pod is seen or not. */
export interface Member {
  /** Name of its pod, by which it polls. */
  readonly name: string;
  readonly zone?: string;
  readonly node?: string;
  /** It hands its targets over and gets none. */
  readonly leaving?: boolean;
}

/** Where a target is not with its rendezvous owner, or is being handed over. */
export interface Exception {
  readonly owner: string;
  /** The former owner, until the hand-over ends. */
  readonly from?: string;
  /** The former owner stops first: nobody is served the target until the hand-over ends. Absent: both are served it. */
  readonly gap?: boolean;
  /** When the target was given to the owner, as {@link Assignments.at}. */
  readonly since: number;
  /** When the poll that the hand-over waits for was seen, in milliseconds. */
  readonly seenAt?: number;
  /** When an owner last died with this target, in milliseconds. */
  readonly diedAt?: number;
  /** Two owners died with this target: it stays with this one, and is served by nobody while that is away. */
  readonly apart?: boolean;
}

/** Which members may own a target: all, or those of its zone or node. */
export type Pool = "none" | "zone" | "node";

/** Who owns a target whose zone or node has no member. */
export type Fallback = "any" | "none";

/** What is recorded of one CollectorLoadBalancer: all that replicas need to give the same answer. */
export interface Assignments {
  /**
   * When the leader recorded them, in milliseconds, greater with each write. A replica that answers a poll notes it as
   * {@link Poll.seen}, so that the leader knows what the collector was told.
   */
  readonly at: number;
  readonly members: readonly Member[];
  readonly pool: Pool;
  readonly fallback: Fallback;
  /** By the key of a target. */
  readonly exceptions: ReadonlyMap<string, Exception>;
  readonly memory: Memory;
}

/** What a decision must know of earlier ones, also after a restart or under another leader. */
export interface Memory {
  /** When targets were last moved to level the load, in milliseconds. */
  readonly balancedAt: number | null;
  /** When targets were moved, in milliseconds; as many as the budget still counts. */
  readonly moves: readonly number[];
  /** Since when fewer collectors would do, in milliseconds. */
  readonly fewerSince: number | null;
}

/** That a collector was told its targets of a job. */
export interface Poll {
  readonly collector: string;
  readonly job: string;
  /** {@link Assignments.at} of what it was told. */
  readonly seen: number;
  /** When, in milliseconds. */
  readonly at: number;
}

export const NO_ASSIGNMENTS: Assignments = {
  ...{ at: 0, members: [], pool: "none", fallback: "any", exceptions: new Map() },
  memory: { balancedAt: null, moves: [], fewerSince: null },
};
