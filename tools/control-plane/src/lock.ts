import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** SQLite's result code for a lock that is held by another. */
const SQLITE_BUSY = 5;

const RETRY_MS = 100;

export interface LockOptions {
  /** Called once if the lock is held by another. */
  readonly onWait?: () => void;
}

/**
 * Runs `work` while no other caller, in this process or another of this machine, runs work under the same file. The
 * lock is the kernel's (SQLite's exclusive transaction, nothing is stored), so it is released when its holder ends in
 * any way. There are no stale locks.
 */
export async function withLock<T>(file: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    if (!tryLock(database)) {
      options.onWait?.();
      do await sleep(RETRY_MS);
      while (!tryLock(database));
    }
    return await work();
  } finally {
    database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (typeof error === "object" && error !== null && "errcode" in error && error.errcode === SQLITE_BUSY)
      return false;
    throw error;
  }
}
