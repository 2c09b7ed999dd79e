import { type Clock, isRetryable, sleep } from "@evenkeel/runtime";
import type { Edges, Entry, EntryId, Gap, Page, Streams } from "./state.ts";

/** The topic on which a stream's appends are announced. */
export function appendedTopic(stream: string): string {
  return `appended:${stream}`;
}

/** Entries that one read asks for. */
const PAGE = 100;

/** How long to wait before reading again from a state that is away, in milliseconds; its return is noticed at once. */
const RETRY = 1000;

type Cursor = EntryId | "start";

export interface Position {
  readonly object: string;
  readonly stream: string;
  readonly after: EntryId | "start" | "end";
  readonly signal: AbortSignal;
}

/** Follows streams: reads page by page, and waits for the announcement of the next entry in between. */
export class Tails {
  readonly #edges: Edges;
  readonly #clock: Clock;

  constructor(edges: Edges, clock: Clock) {
    this.#edges = edges;
    this.#clock = clock;
  }

  /** It listens from this call on, not from the first read: what is appended in between must not be missed. */
  follow(position: Position, streams: Pick<Streams, "read" | "newest">): AsyncIterable<Entry | Gap> {
    const { object, stream, after, signal } = position;
    const latch = new Latch();
    const unsubscribe = this.#edges.subscribe(object, appendedTopic(stream), () => latch.open());
    const end = () => {
      unsubscribe();
      latch.open();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    const start =
      after === "end"
        ? this.#patiently(
            latch,
            signal,
            async (): Promise<Cursor> => (await streams.newest(object, stream, 1))[0]?.id ?? "start",
          )
        : Promise.resolve(after);
    start.catch(() => undefined);
    const read = (cursor: Cursor) => this.#patiently(latch, signal, () => streams.read(object, stream, cursor, PAGE));
    return drain(start, read, latch, signal, end);
  }

  /** Tries until the state answers. Nothing when the signal aborts before. */
  async #patiently<T>(latch: Latch, signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    while (!signal.aborted) {
      latch.shut();
      try {
        return await work();
      } catch (error) {
        if (!isRetryable(error)) throw error;
        const waking = new AbortController();
        const pause = sleep(this.#clock, RETRY, AbortSignal.any([signal, waking.signal])).catch(() => undefined);
        await Promise.race([latch.opened(), pause]);
        waking.abort();
      }
    }
    return undefined;
  }
}

async function* drain(
  start: Promise<Cursor | undefined>,
  read: (cursor: Cursor) => Promise<Page | undefined>,
  latch: Latch,
  signal: AbortSignal,
  end: () => void,
): AsyncGenerator<Entry | Gap> {
  const ended = () => signal.aborted;
  try {
    for (let cursor = await start; cursor !== undefined && !ended();) {
      const page = await read(cursor);
      if (page === undefined) return;
      if (page.gap) {
        cursor = "start";
        yield { gap: true };
      }
      for (const entry of page.entries) {
        cursor = entry.id;
        yield entry;
        if (ended()) return;
      }
      if (page.entries.length === 0) await latch.opened();
    }
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

/** Remembers that something happened until it is shut again. */
class Latch {
  #isOpen = false;
  #waiting: (() => void)[] = [];

  open(): void {
    this.#isOpen = true;
    for (const resume of this.#waiting.splice(0)) resume();
  }

  shut(): void {
    this.#isOpen = false;
  }

  opened(): Promise<void> {
    return this.#isOpen ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
}
