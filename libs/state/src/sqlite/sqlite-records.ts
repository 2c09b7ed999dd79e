import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "@evenkeel/runtime";
import { checkFence, checkName, toJson } from "../arguments.ts";
import { Conflict, Fenced } from "../errors.ts";
import type { Fence, Records, StoredRecord, Version, WriteTerms } from "../state.ts";
import { newVersion, parseJson, parseVersion } from "../stored-text.ts";
import type { Calls } from "./calls.ts";
import { transact } from "./database.ts";

/** How long the tokens of a forgotten object are still refused, in milliseconds. */
const TOKENS_OUTLIVE = 86_400_000;

interface Row {
  readonly name: string;
  readonly version: string;
  readonly value: string;
}

export class SqliteRecords implements Records {
  readonly #calls: Calls;
  readonly #clock: Clock;

  constructor(calls: Calls, clock: Clock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  async get(object: string, name: string): Promise<StoredRecord | undefined> {
    checkName("object", object);
    checkName("record", name);
    return this.#calls.run("get", (database) => {
      const row = find(database, object, name);
      return row && parseRow(object, row);
    });
  }

  async list(object: string): Promise<readonly StoredRecord[]> {
    checkName("object", object);
    return this.#calls.run("list", (database) =>
      database
        .prepare("SELECT name, version, value FROM records WHERE object = ? ORDER BY name")
        .all(object)
        .map((row) => parseRow(object, row as unknown as Row)),
    );
  }

  async put(object: string, name: string, value: unknown, { expected, fence }: WriteTerms): Promise<Version> {
    checkName("object", object);
    checkName("record", name);
    const text = toJson(`record ${name}`, value);
    const version = newVersion();
    return this.#write("put", object, fence, (database) => {
      compare(find(database, object, name), expected, object, name);
      database.prepare("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)").run(object, name, version, text);
      return version;
    });
  }

  async delete(object: string, name: string, { expected, fence }: WriteTerms): Promise<boolean> {
    checkName("object", object);
    checkName("record", name);
    return this.#write("delete", object, fence, (database) => {
      compare(find(database, object, name), expected, object, name);
      return database.prepare("DELETE FROM records WHERE object = ? AND name = ?").run(object, name).changes === 1;
    });
  }

  async raise(object: string, fence: Fence): Promise<void> {
    checkName("object", object);
    return this.#write("raise", object, fence, () => undefined);
  }

  async forget(object: string, fence: Fence | "unfenced"): Promise<void> {
    checkName("object", object);
    return this.#write("forget", object, fence, (database) => {
      const now = this.#clock.now();
      database.prepare("DELETE FROM records WHERE object = ?").run(object);
      database.prepare("DELETE FROM entries WHERE object = ?").run(object);
      database.prepare("UPDATE fences SET forgotten_at = ? WHERE object = ?").run(now, object);
      database.prepare("DELETE FROM fences WHERE forgotten_at < ?").run(now - TOKENS_OUTLIVE);
    });
  }

  /**
   * A token counts as seen even if the write then conflicts: a conflict is thrown after the commit, anything else rolls
   * it back.
   */
  #write<T>(
    operation: "put" | "delete" | "raise" | "forget",
    object: string,
    fence: Fence | "unfenced",
    work: (database: DatabaseSync) => T,
  ): Promise<T> {
    const checked = fence === "unfenced" ? fence : checkFence(fence);
    return this.#calls.run(operation, (database) => {
      const outcome = transact<{ done: T } | { refused: Error }>(database, () => {
        if (checked !== "unfenced") see(database, object, checked);
        try {
          return { done: work(database) };
        } catch (error) {
          if (error instanceof Conflict) return { refused: error };
          throw error;
        }
      });
      if ("refused" in outcome) throw outcome.refused;
      return outcome.done;
    });
  }
}

function see(database: DatabaseSync, object: string, { scope, token }: Fence): void {
  const row = database.prepare("SELECT token FROM fences WHERE object = ? AND scope = ?").get(object, scope);
  const highest = row ? BigInt(String(row["token"])) : -1n;
  if (token < highest) {
    throw new Fenced({ object, scope, token: token.toString(), highest: highest.toString() });
  }
  database.prepare("INSERT OR REPLACE INTO fences VALUES (?, ?, ?, NULL)").run(object, scope, token.toString());
}

function find(database: DatabaseSync, object: string, name: string): Row | undefined {
  const query = database.prepare("SELECT name, version, value FROM records WHERE object = ? AND name = ?");
  return query.get(object, name) as Row | undefined;
}

function compare(row: Row | undefined, expected: WriteTerms["expected"], object: string, name: string): void {
  const met = expected === "any" || (expected === "absent" ? !row : row?.version === expected);
  if (!met) throw new Conflict({ object, name });
}

function parseRow(object: string, { name, version, value }: Row): StoredRecord {
  const where = `record ${name} of ${object}`;
  return { name, version: parseVersion(where, version), value: parseJson(where, value) };
}
