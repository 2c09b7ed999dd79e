/** A collector that may own targets. Only the record makes one a member: nothing moves because a pod is seen or not. */
export interface Member {
  /** Name of its pod, by which it polls. */
  readonly name: string;
  readonly zone?: string;
  readonly node?: string;
  /** It gives its targets away and gets none. */
  readonly leaving?: boolean;
}

/** Where a target is not with its rendezvous owner, or is being handed over. */
export interface Exception {
  readonly owner: string;
  /** Still served the target until the hand-over ends (policy overlap), or served it alone until it lets go (gap). */
  readonly from?: string;
  /** When the owner was given the target, in milliseconds. */
  readonly since: number;
  /** When the owner was first seen to poll it. */
  readonly seenAt?: number;
}

/** What is recorded of one CollectorLoadBalancer: all that replicas need to give the same answer. */
export interface Assignments {
  readonly members: readonly Member[];
  /** By the key of a target. */
  readonly exceptions: ReadonlyMap<string, Exception>;
}
