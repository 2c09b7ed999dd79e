/** What a decision is about. */
export interface ObjectRef {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** `Rebalance/shop/checkout`; an object without a namespace has two parts. */
export function objectKey({ kind, namespace, name }: ObjectRef): string {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** Everything that a decision depends on, as plain JSON. */
export interface Snapshot {
  /** When the world looked like this; RFC 3339. */
  readonly at: string;
}

/** What a pure `decide` answers: the decision before it is stamped. Doing nothing is a verdict with a reason too. */
export interface Verdict<Action extends string = string, Reason extends string = string, Value = unknown> {
  readonly object: ObjectRef;
  readonly action: Action;
  readonly reason: Reason;
  readonly before: Value;
  readonly after: Value;
  /** One sentence for a person: what is done and why, with the numbers. */
  readonly message: string;
  /** The object asks for a dry run; `--dry-run` asks for all. */
  readonly dryRun?: boolean;
}

/** What makes a verdict a decision. The same snapshot gives the same id. */
interface Stamp {
  readonly id: string;
  readonly at: string;
  readonly dryRun: boolean;
}

export type Decision<Action extends string = string, Reason extends string = string, Value = unknown> = Verdict<
  Action,
  Reason,
  Value
> &
  Stamp;

/** A service's rule: its closed lists of actions and reasons, and the pure function that uses them. */
export interface Decider<
  S extends Snapshot = Snapshot,
  Action extends string = string,
  Reason extends string = string,
  Value = unknown,
> {
  readonly actions: readonly Action[];
  readonly reasons: readonly Reason[];
  decide(snapshot: S): Verdict<Action, Reason, Value>;
}

/** What the decider `D` looks at. */
export type SnapshotOf<D extends Decider> = Parameters<D["decide"]>[0];

/** What comes of it. */
export type DecisionOf<D extends Decider> = ReturnType<D["decide"]> & Stamp;

/** Takes each decision that is news. It must not throw or wait: what it cannot keep, it drops and counts. */
export interface DecisionSink {
  record(decision: Decision): void;
}

export interface DecisionFilter {
  /** As `objectKey` writes it. */
  readonly object?: string | undefined;
  readonly action?: string | undefined;
  readonly reason?: string | undefined;
}

/** Where readers (RPC, dashboard, standby replicas) find decisions. */
export interface DecisionSource {
  /** The newest first, at most `limit`. */
  list(filter: DecisionFilter, limit: number): Promise<readonly Decision[]>;
  /** Decisions from now on, until `signal` aborts. A reader that falls too far behind is ended with an error. */
  watch(filter: DecisionFilter, signal: AbortSignal): AsyncIterable<Decision>;
}

export function matches(filter: DecisionFilter, decision: Decision): boolean {
  return (
    (filter.object === undefined || filter.object === objectKey(decision.object)) &&
    (filter.action === undefined || filter.action === decision.action) &&
    (filter.reason === undefined || filter.reason === decision.reason)
  );
}
