import type { DatabaseSync } from "node:sqlite";
import { explain } from "@evenkeel/runtime";
import { IN_MEMORY } from "../address.ts";
import { BadFile, FileInUse, NoSqlite, Unavailable } from "../errors.ts";
import type { Operation } from "../metrics.ts";

/** Raised with each change of the tables. A file with a higher one was written by a later version. */
const SCHEMA = 1;

const TABLES = `
  CREATE TABLE records (
    object TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (object, name)
  ) WITHOUT ROWID;
  CREATE TABLE fences (
    object TEXT NOT NULL, scope TEXT NOT NULL, token TEXT NOT NULL, forgotten_at INTEGER,
    PRIMARY KEY (object, scope)
  ) WITHOUT ROWID;
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, object TEXT NOT NULL, stream TEXT NOT NULL, text TEXT NOT NULL
  );
  CREATE INDEX entries_by_stream ON entries (object, stream, id);
`;

/**
 * Opens the file, or memory, and makes its tables. A file is locked to this process: edges and counters live inside it,
 * so two would not see each other's. A commit is on disk when it returns.
 */
export async function openDatabase(file: string): Promise<DatabaseSync> {
  const sqlite = await loadSqlite();
  let database: DatabaseSync | undefined;
  try {
    database = new sqlite.DatabaseSync(file, { timeout: 0 });
    if (file !== IN_MEMORY) {
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    }
    database.exec("BEGIN IMMEDIATE");
    const schema = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (schema > SCHEMA) throw new BadFile({ file, fault: "a later version of the service wrote it" });
    if (schema === 0) database.exec(`${TABLES} PRAGMA user_version = ${SCHEMA}`);
    database.exec("COMMIT");
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof BadFile) throw error;
    if (isBusy(error)) throw new FileInUse({ file }, { cause: error });
    throw new BadFile({ file, fault: explain(error) }, { cause: error });
  }
}

/** Loaded only when it is needed: older versions of Node.js do not have it, and state in Redis does not use it. */
function loadSqlite() {
  return import("node:sqlite").catch((cause: unknown) => {
    throw new NoSqlite({ version: process.version }, { cause });
  });
}

/** Runs `work` as a whole or not at all. */
export function transact<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** SQLite's result codes without their details: https://www.sqlite.org/rescode.html */
const [BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN] = [5, 6, 8, 10, 13, 14];

function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY || resultCode(error) === LOCKED;
}

/** What a failed call of SQLite means: a disk that is full or broken may recover, the rest is a defect. */
export function explained(error: unknown, operation: Operation): unknown {
  const code = resultCode(error);
  const away = code !== undefined && [BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN].includes(code);
  return away ? new Unavailable({ operation }, { cause: error }) : error;
}
