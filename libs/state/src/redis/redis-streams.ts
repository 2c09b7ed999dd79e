import { checkLimit, checkText } from "../arguments.ts";
import { Corrupt } from "../errors.ts";
import type { Keys } from "../keys.ts";
import type { Entry, EntryId, Gap, Page, Streams } from "../state.ts";
import { appendedTopic, type Tails } from "../tail.ts";
import type { Calls } from "./calls.ts";

/** An id that no entry has. */
const NOWHERE = "0-0";

/** An entry as Redis gives it: its id, and its fields and values in turn. */
type RawEntry = readonly [id: string, fields: readonly string[]];

export class RedisStreams implements Streams {
  readonly #calls: Calls;
  readonly #keys: Keys;
  readonly #tails: Tails;

  constructor(calls: Calls, keys: Keys, tails: Tails) {
    this.#calls = calls;
    this.#keys = keys;
    this.#tails = tails;
  }

  async append(object: string, stream: string, text: string, limit: number): Promise<EntryId> {
    const keys = [this.#keys.stream(object, stream), this.#keys.streams(object)] as const;
    const channel = this.#keys.edge(object, appendedTopic(stream));
    const args = [checkLimit(limit), checkText("an entry", text), stream, channel];
    return `e-${String(await this.#calls.run("append", keys[0], (client) => client.ekAppend(...keys, ...args)))}`;
  }

  async read(object: string, stream: string, after: EntryId | "start", limit: number): Promise<Page> {
    const key = this.#keys.stream(object, stream);
    const id = after === "start" ? "" : (/^e-(\d{1,15}-\d{1,15})$/.exec(after)?.[1] ?? NOWHERE);
    const reply = await this.#calls.run("read", key, (client) => client.ekRead(key, id, checkLimit(limit)));
    const [gap, entries] = reply as [string, readonly RawEntry[]];
    return { gap: gap === "1", entries: entries.map((entry) => parseEntry(key, entry)) };
  }

  async newest(object: string, stream: string, limit: number): Promise<readonly Entry[]> {
    const key = this.#keys.stream(object, stream);
    const count = checkLimit(limit);
    const entries = await this.#calls.run("newest", key, (client) => client.xrevrange(key, "+", "-", "COUNT", count));
    return entries.map((entry) => parseEntry(key, entry));
  }

  tail(
    object: string,
    stream: string,
    after: EntryId | "start" | "end",
    signal: AbortSignal,
  ): AsyncIterable<Entry | Gap> {
    return this.#tails.follow({ object, stream, after, signal }, this);
  }
}

function parseEntry(key: string, [id, [field, text]]: RawEntry): Entry {
  if (field !== "text" || text === undefined) throw new Corrupt({ key: `${key} ${id}`, fault: "it has no text" });
  return { id: `e-${id}`, text };
}
