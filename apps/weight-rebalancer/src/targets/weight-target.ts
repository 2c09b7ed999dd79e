import type { WeightRange } from "@evenkeel/scoring";

/** What a target is now. */
export interface TargetState {
  readonly weight: number;
  /** What shares the load with it. */
  readonly others: readonly { readonly name: string; readonly weight: number }[];
  /** Milliseconds that clients may go on with what was there before a change; 0 where a change is seen at once. */
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
  /** When it aborts before the write was sent, nothing is written. */
  readonly signal: AbortSignal;
  /** Asked right before the write is sent: false means that this process may no longer act. */
  readonly held: () => boolean;
}

/**
 * A place that a weight is written to: a DNS record, a backend of a route. Both calls reject with coded errors; a terminal one
 * says that the spec or the target must change, a retryable one that the next turn may do.
 */
export interface WeightTarget {
  /** How a person would name it, such as `route53 Z1/www.example.com A blue`. The same target has the same name. */
  readonly name: string;
  readonly range: WeightRange;
  read(terms: ReadTerms): Promise<TargetState>;
  /**
   * Resolves when the target has accepted the weight. Writing what is there already does nothing. A weight of 0 is refused when all
   * others are 0 too: what is meant as "none" would be taken as "equal parts" or as an error.
   */
  write(weight: number, terms: WriteTerms): Promise<void>;
}
