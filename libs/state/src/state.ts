import type { Component } from "@evenkeel/runtime";

/**
 * What the replicas of a service share. One interface, two homes: Redis for several replicas, an embedded SQLite for
 * one.
 *
 * Everything belongs to an object: `object` is its Kubernetes uid, or a fixed word for what belongs to the service as a
 * whole. One call touches one object only, so that it stays on one slot of a Redis Cluster. Names are 1 to 253 letters,
 * digits and `._:/@-`.
 *
 * No call hangs: it settles within the deadline that the state was opened with. A call that cannot be made rejects with
 * EK_STATE_UNAVAILABLE and has done nothing; one that was sent and not answered rejects with EK_STATE_NO_ANSWER. Both
 * are retryable.
 */
export interface State extends Component {
  readonly records: Records;
  readonly counters: Counters;
  readonly streams: Streams;
  readonly edges: Edges;
  /**
   * False while the store does not answer or takes no writes; the condition `StateAvailable` says the same. It makes no
   * process unready.
   */
  readonly available: boolean;
  /** Calls `listener` with each change of `available`, until the returned function is called. */
  onAvailability(listener: (available: boolean) => void): () => void;
  /**
   * Deletes all that is kept of an object that is gone. Its tokens stay refused for a day, so that a late leader cannot
   * revive it.
   */
  forget(object: string, fence: Fence | "unfenced"): Promise<void>;
}

/** Unique to one write of one record: a version whose write was lost in a fail-over never becomes valid again. */
export type Version = `v-${string}`;

/**
 * Whose authority a write has. The store keeps the highest token it has seen for each object and scope, and refuses
 * lower ones; a token counts as seen even if the write that carried it then conflicts.
 *
 * What this guarantees: once a token was accepted for an object, no lower one is, as long as the store keeps that
 * write. SQLite and a single Redis with `appendonly yes, appendfsync always` keep it over kill -9. A Sentinel fail-over
 * keeps it if it had reached the replica that was promoted; replication is asynchronous, so the last moments before a
 * fail-over, tokens included, can be lost, and then a former leader that still believes in its lease can write until
 * the new one writes again. Therefore the lease alone excludes; tokens narrow the window. A leader raises its token
 * when its term begins and on each `gap` and return of the state, before it reads, and derives from the outside world
 * what the store has lost.
 */
export interface Fence {
  readonly scope: string;
  /** `Term.fencingToken`; not negative. */
  readonly token: bigint;
}

export interface StoredRecord {
  readonly name: string;
  readonly value: unknown;
  readonly version: Version;
}

export interface WriteTerms {
  /** What the record must be for the write to happen; else it rejects with EK_STATE_CONFLICT. */
  readonly expected: Version | "absent" | "any";
  /** A lower token than the highest seen rejects with EK_STATE_FENCED. */
  readonly fence: Fence | "unfenced";
}

/**
 * Small JSON values by name. A value that is damaged in the store rejects with EK_STATE_CORRUPT; it can be overwritten
 * and deleted.
 */
export interface Records {
  get(object: string, name: string): Promise<StoredRecord | undefined>;
  /** All records of the object, by name. */
  list(object: string): Promise<readonly StoredRecord[]>;
  /** Resolves with the version of what was written. */
  put(object: string, name: string, value: unknown, terms: WriteTerms): Promise<Version>;
  /** Resolves with whether there was a record. */
  delete(object: string, name: string, terms: WriteTerms): Promise<boolean>;
  /** Makes the token seen without a write: what a new leader does before it reads. */
  raise(object: string, fence: Fence): Promise<void>;
}

/** What one replica counts, by name. Values are finite. */
export type Counts = Readonly<Record<string, number>>;

/** Counts that die with their replica. A report is absolute, so that repeating it does no harm. */
export interface Counters {
  /** Replaces all counts of `replica`. They drop `ttl` milliseconds later unless it reports again. */
  report(object: string, replica: string, counts: Counts, ttl: number): Promise<void>;
  /** Drops the counts of a replica that leaves. */
  withdraw(object: string, replica: string): Promise<void>;
  /** Of each replica that is alive. */
  read(object: string): Promise<ReadonlyMap<string, Counts>>;
  /** Added up over the replicas that are alive. A name that none of them counts is absent, not zero. */
  sum(object: string): Promise<Counts>;
}

/** Opaque, and unique within its stream. */
export type EntryId = `e-${string}`;

export interface Entry {
  readonly id: EntryId;
  readonly text: string;
}

export interface Page {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /**
   * The entry to read on from is not there any more, so that others may be gone too; these are from the oldest that is
   * left on.
   */
  readonly gap: boolean;
}

/** Something may have been missed between the items before and after. */
export interface Gap {
  readonly gap: true;
}

/** Logs of bounded length: the oldest entries go. */
export interface Streams {
  /** Resolves with the entry's id. `limit` is how many entries the stream keeps, this one included. */
  append(object: string, stream: string, text: string, limit: number): Promise<EntryId>;
  /** What came after entry `after`, or from the oldest on; at most `limit` entries. */
  read(object: string, stream: string, after: EntryId | "start", limit: number): Promise<Page>;
  /** The newest first. */
  newest(object: string, stream: string, limit: number): Promise<readonly Entry[]>;
  /**
   * Entries after `after`, and then each as it is appended, until `signal` aborts. While the state is away it waits,
   * then goes on where it was; entries that were dropped meanwhile are one `Gap`. After a fail-over that lost entries,
   * some may come twice.
   */
  tail(
    object: string,
    stream: string,
    after: EntryId | "start" | "end",
    signal: AbortSignal,
  ): AsyncIterable<Entry | Gap>;
}

/**
 * `gap`: the subscription is in effect from now on, and what happened before may have been missed. It is the first
 * notice, and the first after each reconnect: the cue to read what the edges are about.
 */
export type Notice = { readonly kind: "gap" } | { readonly kind: "edge"; readonly text: string };

/** Signals that something has changed. They are not stored: only present listeners get them. */
export interface Edges {
  publish(object: string, topic: string, text: string): Promise<void>;
  /**
   * Calls `listener`, which must not throw, until the returned function is called. Also possible while the state is
   * away.
   */
  subscribe(object: string, topic: string, listener: (notice: Notice) => void): () => void;
}
