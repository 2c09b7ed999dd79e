import { randomUUID } from "node:crypto";
import { type Clock, type Component, explain, type Logger } from "@evenkeel/runtime";

/** CPU in millicores, memory in bytes, and a number of pods. */
interface Amount {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

interface Entry extends Amount {
  /** The same on every replica. */
  readonly id: string;
  readonly member: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The part of shared state that replicas tell each other by. */
export interface PlacementStreams {
  append(object: string, stream: string, text: string, limit: number): Promise<unknown>;
  tail(
    object: string,
    stream: string,
    after: "start",
    signal: AbortSignal,
  ): AsyncIterable<{ readonly text: string } | { readonly gap: true }>;
}

export interface PlacedSinceOptions {
  readonly streams: PlacementStreams;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds after which a score is too old, and nothing is placed by it. */
  readonly limit: number;
}

const OBJECT = "placements";
const STREAM = "placed";
/** Entries that the stream keeps: more are not written within the life of a score. */
const MOST = 1_000;

/**
 * What was placed after a member's score was taken, and so is not in the score yet. Without it, several creates within
 * one scoring interval would all be placed in the same room. Replicas tell each other by shared state; while that is
 * away, each knows what it placed itself.
 */
export class PlacedSince implements Component {
  readonly name = "placements since the last scores";
  readonly #options: PlacedSinceOptions | undefined;
  readonly #stopping = new AbortController();
  #entries: readonly Entry[] = [];

  /** Without options, only this process knows. */
  constructor(options?: PlacedSinceOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#follow();
  }

  stop(): void {
    this.#stopping.abort();
  }

  note(member: string, at: number, replicas: number, each: Omit<Amount, "pods">): void {
    if (replicas <= 0) return;
    const { cpu, memory } = each;
    const entry = { id: randomUUID(), member, at, cpu: cpu * replicas, memory: memory * replicas, pods: replicas };
    this.#add(entry);
    this.#options?.streams.append(OBJECT, STREAM, JSON.stringify(entry), MOST).catch((error: unknown) => {
      this.#options?.log.debug({ fault: explain(error) }, "other replicas do not know of a placement");
    });
  }

  /** What is not in a score that was taken at `scoredAt`. Older entries are forgotten. */
  since(member: string, scoredAt: number): Amount {
    this.#entries = this.#entries.filter((entry) => entry.member !== member || entry.at > scoredAt);
    const later = this.#entries.filter((entry) => entry.member === member);
    const total = (amount: keyof Amount): number => later.reduce((sum, entry) => sum + entry[amount], 0);
    return { cpu: total("cpu"), memory: total("memory"), pods: total("pods") };
  }

  /** Also drops what no score can be older than: of members that are gone, nobody asks any longer. */
  #add(entry: Entry): void {
    const { clock, limit = Infinity } = this.#options ?? {};
    const oldest = (clock?.now() ?? 0) - limit;
    if (this.#entries.some(({ id }) => id === entry.id)) return;
    this.#entries = [...this.#entries.filter(({ at }) => at > oldest), ...(entry.at > oldest ? [entry] : [])];
  }

  async #follow(): Promise<void> {
    if (this.#options === undefined) return;
    const { streams, log } = this.#options;
    const { signal } = this.#stopping;
    try {
      for await (const told of streams.tail(OBJECT, STREAM, "start", signal)) {
        const entry = "text" in told ? entryOf(told.text) : undefined;
        if (entry) this.#add(entry);
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ fault: explain(error) }, "placements of other replicas are not known");
    }
  }
}

/** Undefined if the text is no entry, such as of another version of this program. */
function entryOf(text: string): Entry | undefined {
  try {
    const entry = JSON.parse(text) as Partial<Record<keyof Entry, unknown>> | null;
    const { id, member, at, cpu, memory, pods } = entry ?? {};
    const isEntry = typeof id === "string" && typeof member === "string";
    const numbers = [at, cpu, memory, pods];
    return isEntry && numbers.every((one) => typeof one === "number" && one >= 0) ? (entry as Entry) : undefined;
  } catch {
    return undefined;
  }
}
