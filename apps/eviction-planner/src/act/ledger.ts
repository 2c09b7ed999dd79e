import { explain, type Logger, type Term } from "@evenkeel/runtime";
import type { Fence, State, Version } from "@evenkeel/state";
import { z } from "zod";
import { type Eviction, type EvictionRecord, NO_EVICTIONS } from "../decide/evictions.ts";

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
}) satisfies z.ZodType<Eviction>;
const record = z.object({
  evictions: z.array(eviction),
  backOffs: z.array(z.object({ owner: z.string(), node: z.string(), until: z.number(), returns: z.number() })),
  foreseen: z.array(z.boolean()),
}) satisfies z.ZodType<EvictionRecord>;

/**
 * The evictions of all policies in shared state. Each is recorded before its call, under the leader's fencing token, so
 * that a process that dies in between has spent its budget and never gets it back: a kill buys no eviction.
 */
export class Ledger {
  readonly #state: Pick<State, "records" | "available">;
  readonly #log: Logger;
  #known: { readonly token: bigint; readonly version: Version | "absent"; readonly record: EvictionRecord } | undefined;

  constructor(state: Pick<State, "records" | "available">, log: Logger) {
    this.#state = state;
    this.#log = log.child({ component: "ledger" });
  }

  /** The record as this term knows it; null while the state is away. `isNew` says that nothing was stored. */
  async recall(term: Term): Promise<{ readonly record: EvictionRecord; readonly isNew: boolean } | null> {
    try {
      if (!this.#state.available) return null;
      if (this.#known?.token !== term.fencingToken) await this.#load(term);
      return this.#known ? { record: this.#known.record, isNew: this.#known.version === "absent" } : null;
    } catch (error) {
      this.#log.warn({ fault: explain(error) }, "the record of evictions cannot be read; nothing is evicted");
      return null;
    }
  }

  /** Stores the record. Rejects if that is not certain, and then reads it again before anything else. */
  async keep(next: EvictionRecord, term: Term): Promise<void> {
    const known = this.#known;
    if (known?.token !== term.fencingToken) throw new Error("the record of evictions was not read in this term");
    this.#known = undefined;
    const version = await this.#state.records.put(OBJECT, RECORD, next, {
      expected: known.version,
      fence: fenceOf(term),
    });
    this.#known = { ...known, version, record: next };
  }

  /** Records an eviction that is about to be made. */
  async spend(eviction: Eviction, term: Term): Promise<void> {
    const { evictions, ...rest } = this.#present();
    if (evictions.length >= MOST) throw new Error(`${MOST} evictions are recorded, and no more fit`);
    await this.keep({ ...rest, evictions: [...evictions, eviction] }, term);
  }

  /** Takes back what was recorded: the API server refused the eviction for certain. */
  async refund({ uid, at }: Eviction, term: Term): Promise<void> {
    const { evictions, ...rest } = this.#present();
    await this.keep({ ...rest, evictions: evictions.filter((each) => each.uid !== uid || each.at !== at) }, term);
  }

  endTerm(): void {
    this.#known = undefined;
  }

  #present(): EvictionRecord {
    if (this.#known === undefined) throw new Error("the record of evictions is not known");
    return this.#known.record;
  }

  async #load(term: Term): Promise<void> {
    this.#known = undefined;
    await this.#state.records.raise(OBJECT, fenceOf(term));
    const stored = await this.#state.records.get(OBJECT, RECORD);
    this.#known = {
      token: term.fencingToken,
      version: stored?.version ?? "absent",
      record: stored ? record.parse(stored.value) : NO_EVICTIONS,
    };
  }
}

function fenceOf({ fencingToken }: Term): Fence {
  return { scope: SCOPE, token: fencingToken };
}
