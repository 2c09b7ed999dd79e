import type { LastLook } from "@evenkeel/kube";
import type { WeightRange } from "@evenkeel/scoring";

/** The present state of a target. */
export interface TargetState {
  readonly weight: number;
  /** The weights that share the load with it. */
  readonly others: readonly { readonly name: string; readonly weight: number }[];
  /** Milliseconds that clients may use the previous weights after a change; 0 if a change has effect at once. */
  readonly timeToLive: number;
  /** A change was accepted and is not in effect everywhere yet. */
  readonly pending: boolean;
}

export interface ReadTerms {
  readonly signal: AbortSignal;
  /** Milliseconds that a cached state may be old. */
  readonly maxAge: number;
}

export interface WriteTerms {
  /** If it aborts before the write is sent, nothing is written. */
  readonly signal: AbortSignal;
  /**
   * Called right before the write is sent. If it throws, nothing is written and the write rejects with what it threw.
   */
  readonly lastLook: LastLook;
  /**
   * The weight that the decision was made for. If the target has a third weight, another client changed it since, and
   * the write rejects with TargetChanged. Absent: any weight is replaced.
   */
  readonly expected?: number;
}

/**
 * Where a weight is read from and written to: a DNS record, a backend of a route. Both calls reject with coded errors.
 * A terminal error means that the spec or the target must change; after a retryable one the next reconcile may succeed.
 */
export interface WeightTarget {
  /** Such as `route53 Z1/www.example.com A blue`. The same target has the same name. */
  readonly name: string;
  /** The server that has the target, if the spec names one. Another server may have another target of the same name. */
  readonly endpoint?: string | undefined;
  readonly range: WeightRange;
  read(terms: ReadTerms): Promise<TargetState>;
  /**
   * Resolves after the target has accepted the weight. What another client changed meanwhile is kept: the write is
   * refused then, and repeated with what the target is now. Writing the weight that the target already has does
   * nothing. A weight of 0 is refused if all others are 0 too: "no traffic" would become "equal shares" or errors.
   */
  write(weight: number, terms: WriteTerms): Promise<void>;
}
