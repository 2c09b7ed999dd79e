import { explain, type Logger, type Term } from "@evenkeel/runtime";
import type { Fence, State, Version } from "@evenkeel/state";
import { z } from "zod";
import {
  type Eviction,
  type EvictionRecord,
  type Forecast,
  NO_EVICTIONS,
  withEviction,
  withForecast,
} from "../decide/evictions.ts";

const OBJECT = "evictions";
const RECORD = "ledger";
const SCOPE = "leader";
/** Evictions of an hour that fit into a record of 1 MiB. With more, no further one is recorded, and so none is made. */
const MOST = 1000;

const place = z.object({ node: z.string(), probability: z.number() });
const eviction = z.object({
  ...{ uid: z.string(), namespace: z.string(), pod: z.string(), owner: z.string(), workload: z.string() },
  ...{ from: z.string(), policy: z.string(), at: z.number(), expected: z.array(place), backOff: z.number() },
  ...{ landed: z.string().nullable(), replacement: z.string() },
  // Records of earlier versions have none; those evictions are never late.
  lastSeen: z.number().default(Number.MAX_SAFE_INTEGER),
  wave: z.number().default(0),
  since: z.number().exactOptional(),
  gone: z.number().exactOptional(),
  surge: z.boolean().exactOptional(),
}) satisfies z.ZodType<Eviction>;
const forecast = z.object({
  ...{ policy: z.string(), at: z.number(), sigma: z.number(), missedUntil: z.number().nullable() },
}) satisfies z.ZodType<Forecast>;
const record = z.object({
  evictions: z.array(eviction),
  backOffs: z.array(z.object({ owner: z.string(), node: z.string(), until: z.number(), returns: z.number() })),
  foreseen: z.array(z.boolean()),
  untrustedSince: z.number().nullable().default(null),
  waves: z.array(z.object({ at: z.number(), nodes: z.array(z.string()).nullable() })).default([]),
  forecasts: z.array(forecast).default([]),
}) satisfies z.ZodType<EvictionRecord>;

/** What is stored, and the term in which it was read or written. */
interface Known {
  readonly token: bigint;
  readonly version: Version | "absent";
  readonly record: EvictionRecord;
}

/**
 * The evictions of all policies in shared state. Each is recorded before its call, under the leader's fencing token, so
 * that a process that dies in between has spent its budget and never gets it back: a kill buys no eviction.
 */
export class Ledger {
  readonly #state: Pick<State, "records" | "available">;
  readonly #log: Logger;
  #changes: Promise<unknown> = Promise.resolve();
  #known: Known | undefined;

  constructor(state: Pick<State, "records" | "available">, log: Logger) {
    this.#state = state;
    this.#log = log.child({ component: "ledger" });
  }

  /** The record as it was last read or stored in this term. */
  get known(): EvictionRecord | undefined {
    return this.#known?.record;
  }

  /**
   * The record as it is stored, read again each time: a state that was emptied is noticed before the next eviction.
   * Null while the state is away. `isNew` says that nothing was stored.
   */
  async recall(term: Term): Promise<{ readonly record: EvictionRecord; readonly isNew: boolean } | null> {
    try {
      if (!this.#state.available) return null;
      const work = (): Promise<void> => this.#load(term);
      const loaded = this.#changes.then(work, work);
      this.#changes = loaded.catch(() => undefined);
      await loaded;
      return this.#known ? { record: this.#known.record, isNew: this.#known.version === "absent" } : null;
    } catch (error) {
      this.#log.warn({ fault: explain(error) }, "the record of evictions cannot be read; nothing is evicted");
      return null;
    }
  }

  /** Stores the record. Rejects if that is not certain, and then reads it again before anything else. */
  async keep(next: EvictionRecord, term: Term): Promise<void> {
    await this.#change(() => next, term);
  }

  /** Changes are made one after another, each on what the one before stored. */
  #change(next: (record: EvictionRecord) => EvictionRecord, term: Term): Promise<void> {
    const work = (): Promise<void> => this.#put(next, term);
    const changed = this.#changes.then(work, work);
    this.#changes = changed.catch(() => undefined);
    return changed;
  }

  async #put(change: (record: EvictionRecord) => EvictionRecord, term: Term): Promise<void> {
    const known = this.#known;
    if (known?.token !== term.fencingToken) throw new Error("the record of evictions is not known in this term");
    const next = change(known.record);
    this.#known = undefined;
    const version = await this.#state.records.put(OBJECT, RECORD, next, {
      expected: known.version,
      fence: fenceOf(term),
    });
    this.#known = { ...known, version, record: next };
  }

  /** Records an eviction that is about to be made, and where the replacements of its wave are likely to land. */
  async spend(eviction: Eviction, likelyNodes: readonly string[], term: Term): Promise<void> {
    await this.#change((record) => {
      if (record.evictions.length >= MOST) throw new Error(`${MOST} evictions are recorded, which is the limit`);
      return withEviction(record, eviction, likelyNodes);
    }, term);
  }

  /** Counts an eviction from when it was answered. Its replacement may have started before that. */
  async restamp({ uid, at: recordedAt, since = recordedAt }: Eviction, at: number, term: Term): Promise<void> {
    await this.#change((record) => {
      const evictions = record.evictions.map((each) =>
        each.uid === uid && each.at === recordedAt ? { ...each, at, since, lastSeen: at } : each,
      );
      return { ...record, evictions };
    }, term);
  }

  /** Takes back what was recorded: the API server refused the eviction for certain. */
  async refund({ uid, at }: Eviction, term: Term): Promise<void> {
    await this.#change((record) => {
      return { ...record, evictions: record.evictions.filter((each) => each.uid !== uid || each.at !== at) };
    }, term);
  }

  /** Keeps what a wave of a policy foretold; null if its last forecast says nothing any more. */
  async foretell(policy: string, foretold: Forecast | null, term: Term): Promise<void> {
    await this.#change((record) => withForecast(record, policy, foretold), term);
  }

  endTerm(): void {
    this.#known = undefined;
  }

  async #load(term: Term): Promise<void> {
    try {
      this.#known = await this.#read(term);
    } catch (error) {
      this.#known = undefined;
      throw error;
    }
  }

  async #read(term: Term): Promise<Known> {
    await this.#state.records.raise(OBJECT, fenceOf(term));
    const stored = await this.#state.records.get(OBJECT, RECORD);
    return {
      token: term.fencingToken,
      version: stored?.version ?? "absent",
      record: stored ? record.parse(stored.value) : NO_EVICTIONS,
    };
  }
}

function fenceOf({ fencingToken }: Term): Fence {
  return { scope: SCOPE, token: fencingToken };
}
