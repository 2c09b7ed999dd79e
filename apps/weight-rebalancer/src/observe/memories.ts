import { isDeepStrictEqual } from "node:util";
import type { RebalanceStatus } from "@evenkeel/api";
import { explain, type Logger, type Term } from "@evenkeel/runtime";
import type { State } from "@evenkeel/state";
import { z } from "zod";
import { type Memory, NO_MEMORY } from "../decide/snapshot.ts";
import { memoryOf } from "../last-write.ts";

const RECORD = "memory";
const SCOPE = "leader";

const time = z.number().nullable();
const memory = z.object({
  smoothed: z.object({ value: z.number(), at: z.number() }).nullable(),
  desired: z.number().nullable(),
  changedAt: time,
  raisedAt: time,
  yieldedAt: time,
  unwritten: z.array(z.string()).default([]),
}) satisfies z.ZodType<Memory>;

/**
 * What the leader remembers of each Rebalance. What a pod that replaces this one must know is in the status; the moving
 * average is in shared state alone.
 *
 * While shared state cannot be read, the average is unknown: the memory of this process is used, and nothing is stored
 * that would replace what is there.
 */
export class Memories {
  readonly #state: Pick<State, "records" | "forget">;
  readonly #log: Logger;
  readonly #known = new Map<string, Memory>();
  /** What shared state has. An object without an entry has not been read yet. */
  readonly #stored = new Map<string, Memory>();
  #token: bigint | undefined;

  constructor(state: Pick<State, "records" | "forget">, log: Logger) {
    this.#state = state;
    this.#log = log.child({ component: "memories" });
  }

  /** The memory of the object: that of this term, else from its status or shared state, which has the later change. */
  async recall(uid: string, { lastWrite }: Pick<RebalanceStatus, "lastWrite">, term: Term): Promise<Memory> {
    if (this.#token !== term.fencingToken) {
      this.#known.clear();
      this.#stored.clear();
      this.#token = term.fencingToken;
    }
    const known = this.#known.get(uid);
    if (known && this.#stored.has(uid)) return known;
    const stored = await this.#load(uid, term);
    if (stored) this.#stored.set(uid, stored);
    const recalled = {
      ...(known ?? later(lastWrite, stored ?? NO_MEMORY)),
      smoothed: stored?.smoothed ?? known?.smoothed ?? null,
    };
    this.#known.set(uid, recalled);
    return recalled;
  }

  async keep(uid: string, memory: Memory, term: Term): Promise<void> {
    this.#known.set(uid, memory);
    const stored = this.#stored.get(uid);
    if (stored === undefined || isDeepStrictEqual(memory, stored)) return;
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

  /** Undefined if shared state does not answer. A record that cannot be understood counts as none. */
  async #load(uid: string, term: Term): Promise<Memory | undefined> {
    try {
      await this.#state.records.raise(uid, { scope: SCOPE, token: term.fencingToken });
      const record = await this.#state.records.get(uid, RECORD);
      if (!record) return NO_MEMORY;
      const { data, error } = memory.safeParse(record.value);
      if (error) this.#log.warn({ object: uid, fault: explain(error) }, "the memory of a Rebalance is damaged");
      return data ?? NO_MEMORY;
    } catch (error) {
      this.#log.warn(
        { object: uid, fault: explain(error) },
        "shared state cannot be read; the moving average of a Rebalance is unknown",
      );
      return undefined;
    }
  }
}

/**
 * The memory with the later change, else that of the status: a status that could not be written is behind shared state,
 * and shared state that was away is behind the status. A weight that the status does not know stays unknown.
 */
function later(lastWrite: RebalanceStatus["lastWrite"], stored: Memory): Memory {
  if (lastWrite === undefined) return stored;
  const told = memoryOf(lastWrite);
  const isBehind = (stored.changedAt ?? -Infinity) > (told.changedAt ?? -Infinity);
  return isBehind ? { ...stored, desired: told.desired === null ? null : stored.desired } : told;
}
