import { checkLimit, checkName, checkText } from "../arguments.ts";
import type { Edges, Entry, EntryId, Gap, Page, Streams } from "../state.ts";
import { appendedTopic, type Tails } from "../tail.ts";
import type { Calls } from "./calls.ts";

export class SqliteStreams implements Streams {
  readonly #calls: Calls;
  readonly #edges: Edges;
  readonly #tails: Tails;

  constructor(calls: Calls, edges: Edges, tails: Tails) {
    this.#calls = calls;
    this.#edges = edges;
    this.#tails = tails;
  }

  async append(object: string, stream: string, text: string, limit: number): Promise<EntryId> {
    check(object, stream);
    checkLimit(limit);
    checkText("an entry", text);
    const id = await this.#calls.transact("append", (database): EntryId => {
      const insert = database.prepare("INSERT INTO entries (object, stream, text) VALUES (?, ?, ?)");
      const added = insert.run(object, stream, text).lastInsertRowid;
      database
        .prepare(
          `DELETE FROM entries WHERE object = ?1 AND stream = ?2 AND id <=
             (SELECT id FROM entries WHERE object = ?1 AND stream = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)`,
        )
        .run(object, stream, limit);
      return `e-${added}`;
    });
    await this.#edges.publish(object, appendedTopic(stream), id);
    return id;
  }

  async read(object: string, stream: string, after: EntryId | "start", limit: number): Promise<Page> {
    check(object, stream);
    checkLimit(limit);
    return this.#calls.run("read", (database) => {
      const found = database.prepare("SELECT 1 FROM entries WHERE object = ? AND stream = ? AND id = ?");
      const cursor = Number(/^e-(\d{1,15})$/.exec(after)?.[1] ?? -1);
      const gap = after !== "start" && !found.get(object, stream, cursor);
      const query = database.prepare(
        "SELECT id, text FROM entries WHERE object = ? AND stream = ? AND id > ? ORDER BY id LIMIT ?",
      );
      return { gap, entries: query.all(object, stream, gap || after === "start" ? -1 : cursor, limit).map(toEntry) };
    });
  }

  async newest(object: string, stream: string, limit: number): Promise<readonly Entry[]> {
    check(object, stream);
    checkLimit(limit);
    return this.#calls.run("newest", (database) =>
      database
        .prepare("SELECT id, text FROM entries WHERE object = ? AND stream = ? ORDER BY id DESC LIMIT ?")
        .all(object, stream, limit)
        .map(toEntry),
    );
  }

  tail(
    object: string,
    stream: string,
    after: EntryId | "start" | "end",
    signal: AbortSignal,
  ): AsyncIterable<Entry | Gap> {
    check(object, stream);
    return this.#tails.follow({ object, stream, after, signal }, this);
  }
}

function check(object: string, stream: string): void {
  checkName("object", object);
  checkName("stream", stream);
}

function toEntry(row: Record<string, unknown>): Entry {
  return { id: `e-${String(row["id"])}`, text: String(row["text"]) };
}
