import { type Clock, explain, type Logger, type Term } from "@evenkeel/runtime";
import type { Fence, State, StoredRecord, Version } from "@evenkeel/state";
import { z } from "zod";
import { type Assignments, type Exception, NO_ASSIGNMENTS } from "../decide/assignments.ts";

const HEAD = "assignments";
const BUCKET = "exceptions:";
const TOPIC = "assignments";
const SCOPE = "leader";

/** Bytes that a bucket should hold on average; a record holds at most 1 MiB. */
const BUCKET_BYTES = 128 * 1024;
const LEAST_BUCKETS = 16;
/** Bytes of an exception besides its key, at most. */
const EXCEPTION_BYTES = 400;
/** Milliseconds between two looks at the head, because the edge that tells of a change can be lost. */
const REREAD = 10_000;

const member = z.object({
  name: z.string(),
  ...{ zone: z.string().exactOptional(), node: z.string().exactOptional(), leaving: z.boolean().exactOptional() },
});
const exception = z.object({
  ...{ owner: z.string(), from: z.string().exactOptional(), gap: z.boolean().exactOptional(), since: z.number() },
  ...{ seenAt: z.number().exactOptional(), diedAt: z.number().exactOptional(), apart: z.boolean().exactOptional() },
}) satisfies z.ZodType<Exception>;
const bucket = z.array(z.tuple([z.string(), exception]));
const head = z.object({
  ...{ at: z.number(), members: z.array(member), pool: z.enum(["none", "zone", "node"]) },
  fallback: z.enum(["any", "none"]),
  memory: z.object({
    ...{ balancedAt: z.number().nullable(), moves: z.array(z.number()), fewerSince: z.number().nullable() },
  }),
  /** Names of the records that hold the exceptions; null for a bucket without any. */
  buckets: z.array(z.string().nullable()),
}) satisfies z.ZodType<Omit<Assignments, "exceptions">>;

interface Known {
  readonly assignments: Assignments;
  readonly buckets: readonly (string | null)[];
  readonly version: Version | "absent";
}

export interface AssignmentRecordsOptions {
  /** The uid of the CollectorLoadBalancer. */
  readonly object: string;
  readonly state: Pick<State, "records" | "edges" | "available">;
  readonly clock: Pick<Clock, "schedule">;
  readonly log: Logger;
}

/**
 * The assignments of one CollectorLoadBalancer in shared state: a head, and exceptions in buckets by the hash of their
 * key. A change writes the buckets that changed under new names and then the head, which names them: a reader sees all
 * of a decision or nothing of it, wherever the writer dies. While the state is away, the last known assignments stay in
 * force.
 */
export class AssignmentRecords {
  readonly #options: AssignmentRecordsOptions;
  readonly #log: Logger;
  #seen: Assignments | null = null;
  #led: (Known & { readonly token: bigint }) | undefined;

  constructor(options: AssignmentRecordsOptions) {
    this.#options = options;
    this.#log = options.log.child({ component: "assignments" });
  }

  /** What this replica serves by; null until the state has answered once. */
  get current(): Assignments | null {
    return this.#seen;
  }

  /** Keeps {@link current} up to date, and calls `listener` with each change, until the returned function is called. */
  follow(listener: (assignments: Assignments) => void): () => void {
    const { state, object, clock } = this.#options;
    const ending = new AbortController();
    let reading = Promise.resolve();
    const read = async () => {
      try {
        const assignments = await this.#readNewer();
        if (ending.signal.aborted || assignments === null) return;
        this.#seen = assignments;
        listener(assignments);
      } catch (error) {
        this.#log.warn({ fault: explain(error) }, "assignments cannot be read; the last known ones stay in force");
      }
    };
    const readNext = () => {
      reading = reading.then(read);
    };
    let cancel: () => void;
    const readLater = () => {
      cancel = clock.schedule(REREAD, () => {
        if (state.available) readNext();
        readLater();
      });
    };
    readLater();
    const unsubscribe = state.edges.subscribe(object, TOPIC, readNext);
    return () => {
      ending.abort();
      cancel();
      unsubscribe();
    };
  }

  /** What is recorded, if it is newer than what is known. */
  async #readNewer(): Promise<Assignments | null> {
    const { state, object } = this.#options;
    const found = await state.records.get(object, HEAD);
    // The state was emptied: the leader reads it again, and records what it knows.
    if (found === undefined && this.#isKnown) this.#led = undefined;
    if (found !== undefined && head.parse(found.value).at <= (this.#seen?.at ?? -1)) return null;
    const { assignments } = knownOf(await state.records.list(object));
    // A read that was overtaken by this replica's own write tells nothing new.
    return assignments.at <= (this.#seen?.at ?? -1) ? null : assignments;
  }

  get #isKnown(): boolean {
    return this.#seen !== null && this.#seen.at > NO_ASSIGNMENTS.at;
  }

  /** What is recorded, for the leader to decide on; null while that is not certain, so that nothing may move. */
  async recall(term: Term): Promise<Assignments | null> {
    const { state } = this.#options;
    try {
      if (!state.available) return null;
      if (this.#led?.token !== term.fencingToken) await this.#load(term);
      return this.#led?.assignments ?? null;
    } catch (error) {
      this.#log.warn({ fault: explain(error) }, "assignments cannot be read; no target moves");
      return null;
    }
  }

  /**
   * Records what was decided on what {@link recall} returned. It rejects if that is not certain, and then the next
   * recall reads the state again.
   */
  async keep(next: Assignments, term: Term): Promise<void> {
    const led = this.#led;
    if (led?.token !== term.fencingToken) throw new Error("assignments were not read in this term");
    if (next === led.assignments) return;
    this.#led = undefined;
    await this.#write(led, next, term);
  }

  endTerm(): void {
    this.#led = undefined;
  }

  async #load(term: Term): Promise<void> {
    const { state, object } = this.#options;
    this.#led = undefined;
    await state.records.raise(object, fenceOf(term));
    const stored = await state.records.list(object);
    const known = knownOf(stored);
    if (known.version === "absent" && this.#seen !== null && this.#isKnown) {
      this.#log.warn({}, "the shared state has lost the assignments; the last known ones are recorded again");
      return this.#write(known, this.#seen, term);
    }
    this.#led = { ...known, token: term.fencingToken };
    const left = stored.filter(({ name }) => name.startsWith(BUCKET) && !known.buckets.includes(name));
    await this.#drop(
      left.map(({ name }) => name),
      fenceOf(term),
    );
  }

  /**
   * Writes the buckets that differ from `before`, then the head. From then on `next` is in force, whatever fails later.
   */
  async #write(before: Known, next: Assignments, term: Term): Promise<void> {
    const { state, object } = this.#options;
    const fence = fenceOf(term);
    const names = await this.#putBuckets(before, next, fence);
    const { at, members, pool, fallback, memory } = next;
    const value = { at, members, pool, fallback, memory, buckets: names };
    const version = await state.records.put(object, HEAD, value, { expected: before.version, fence });
    this.#led = { assignments: next, buckets: names, version, token: term.fencingToken };
    this.#seen = next;
    try {
      await state.edges.publish(object, TOPIC, `${at}`);
    } catch (error) {
      this.#log.warn({ fault: explain(error) }, "could not notify replicas of new assignments; they read them later");
    }
    await this.#drop(before.buckets.filter((name) => name !== null && !names.includes(name)) as string[], fence);
  }

  /** Writes the buckets that changed; returns the names of all. */
  async #putBuckets(led: Known, next: Assignments, fence: Fence): Promise<readonly (string | null)[]> {
    const { state, object } = this.#options;
    const count = Math.max(led.buckets.length, bucketsFor(next.exceptions));
    const changed = changedBuckets(led, next, count);
    const contents = new Map([...changed].map((index) => [index, [] as [string, Exception][]]));
    for (const entry of next.exceptions) contents.get(bucketOf(entry[0], count))?.push(entry);
    const names = Array.from({ length: count }, (_, index) => {
      const content = contents.get(index);
      if (content === undefined) return led.buckets[index] ?? null;
      return content.length === 0 ? null : `${BUCKET}${index}:${next.at}`;
    });
    const puts = [...contents].flatMap(([index, content]) => {
      const name = names[index] ?? null;
      return name === null ? [] : [state.records.put(object, name, content, { expected: "any", fence })];
    });
    await Promise.all(puts);
    return names;
  }

  /** What is left over does no harm, and the next leader tries again. */
  async #drop(names: readonly string[], fence: Fence): Promise<void> {
    const { state, object } = this.#options;
    const terms = { expected: "any", fence } as const;
    for (const settled of await Promise.allSettled(names.map((name) => state.records.delete(object, name, terms)))) {
      if (settled.status === "rejected") this.#log.debug({ fault: explain(settled.reason) }, "a bucket is left over");
    }
  }
}

function knownOf(stored: readonly StoredRecord[]): Known {
  const byName = new Map(stored.map((record) => [record.name, record]));
  const found = byName.get(HEAD);
  if (found === undefined) return { assignments: NO_ASSIGNMENTS, buckets: [], version: "absent" };
  const { buckets, ...rest } = head.parse(found.value);
  const exceptions = new Map(
    buckets.flatMap((name) => {
      if (name === null) return [];
      const record = byName.get(name);
      if (record === undefined) throw new Error(`the record ${name} is missing`);
      return bucket.parse(record.value);
    }),
  );
  return { assignments: { ...rest, exceptions }, buckets, version: found.version };
}

function changedBuckets({ assignments, buckets }: Known, { exceptions }: Assignments, count: number): Set<number> {
  if (count !== buckets.length) return new Set(Array.from({ length: count }, (_, index) => index));
  const changed = new Set<number>();
  for (const [key, exception] of exceptions)
    if (assignments.exceptions.get(key) !== exception) changed.add(bucketOf(key, count));
  for (const key of assignments.exceptions.keys()) if (!exceptions.has(key)) changed.add(bucketOf(key, count));
  return changed;
}

/** A power of two: so many that each stays far below the limit of a record. */
function bucketsFor(exceptions: Assignments["exceptions"]): number {
  let bytes = 0;
  for (const key of exceptions.keys()) bytes += key.length + EXCEPTION_BYTES;
  return Math.max(LEAST_BUCKETS, 2 ** Math.ceil(Math.log2(Math.max(1, bytes / BUCKET_BYTES))));
}

/** FNV-1a, which is cheap: a change looks at every key. `count` is a power of two. */
function bucketOf(key: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) & (count - 1);
}

function fenceOf({ fencingToken }: Term): Fence {
  return { scope: SCOPE, token: fencingToken };
}
