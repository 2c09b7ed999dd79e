import { isDeepStrictEqual } from "node:util";
import { explain, type Logger, type Term } from "@evenkeel/runtime";
import type { State } from "@evenkeel/state";
import { z } from "zod";
import { type Memory, NO_MEMORY } from "../decide/snapshot.ts";

const RECORD = "memory";
const SCOPE = "leader";

const time = z.number().nullable();
const memory = z.object({
  smoothed: z.object({ value: z.number(), at: z.number() }).nullable(),
  desired: z.number().nullable(),
  changedAt: time,
  raisedAt: time,
  yieldedAt: time,
}) satisfies z.ZodType<Memory>;

/**
 * What the leader remembers of each Rebalance. It is stored in shared state for the next leader. Weights are reversible: while shared
 * state is unavailable, the memory of this process is used, and what is lost starts from nothing.
 */
export class Memories {
  readonly #state: Pick<State, "records" | "forget">;
  readonly #log: Logger;
  readonly #known = new Map<string, Memory>();
  readonly #stored = new Map<string, Memory>();
  #token: bigint | undefined;

  constructor(state: Pick<State, "records" | "forget">, log: Logger) {
    this.#state = state;
    this.#log = log.child({ component: "memories" });
  }

  /** The memory of the object; read from shared state on the first call in a term. */
  async recall(uid: string, term: Term): Promise<Memory> {
    if (this.#token !== term.fencingToken) {
      this.#known.clear();
      this.#stored.clear();
      this.#token = term.fencingToken;
    }
    const known = this.#known.get(uid);
    if (known) return known;
    const stored = await this.#load(uid, term);
    this.#known.set(uid, stored);
    this.#stored.set(uid, stored);
    return stored;
  }

  async keep(uid: string, memory: Memory, term: Term): Promise<void> {
    this.#known.set(uid, memory);
    if (isDeepStrictEqual(memory, this.#stored.get(uid))) return;
    try {
      const fence = { scope: SCOPE, token: term.fencingToken };
      await this.#state.records.put(uid, RECORD, memory, { expected: "any", fence });
      this.#stored.set(uid, memory);
    } catch (error) {
      this.#log.debug(
        { object: uid, fault: explain(error) },
        "the memory of a Rebalance is not stored; only this process has it",
      );
    }
  }

  async forget(uid: string, term: Term): Promise<void> {
    this.#known.delete(uid);
    this.#stored.delete(uid);
    await this.#state.forget(uid, { scope: SCOPE, token: term.fencingToken }).catch((error: unknown) => {
      this.#log.debug(
        { object: uid, fault: explain(error) },
        "the memory of a deleted Rebalance remains in shared state",
      );
    });
  }

  async #load(uid: string, term: Term): Promise<Memory> {
    try {
      await this.#state.records.raise(uid, { scope: SCOPE, token: term.fencingToken });
      const record = await this.#state.records.get(uid, RECORD);
      return record ? memory.parse(record.value) : NO_MEMORY;
    } catch (error) {
      this.#log.warn(
        { object: uid, fault: explain(error) },
        "the memory of a Rebalance cannot be read; it starts from nothing",
      );
      return NO_MEMORY;
    }
  }
}
