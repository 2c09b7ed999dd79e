import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isSystemError } from "./errors.ts";
import { isAlive, thisHost } from "./process-identity.ts";
import { type ComponentProcess, judgeRun, parseRunRecord, type RunRecord, type RunState } from "./run-record.ts";

const RECORD_FILE = "run.json";

/** Files that are kept after the end of a run. The others are keys and data. */
const KEPT_AFTER_END = new Set([RECORD_FILE, "logs"]);

/** A run as found by any process. */
export interface FoundRun {
  readonly folder: RunFolder;
  readonly state: RunState;
  readonly record: RunRecord;
}

/** The folder of one started cluster: its record, keys, configuration, data and logs. Only its user has access. */
export class RunFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Creates a new folder under `runs` with its record, before anything is started. */
  static create(runs: string, record: RunRecord): RunFolder {
    const folder = new RunFolder(join(runs, `${record.name}-${randomBytes(4).toString("hex")}`));
    mkdirSync(folder.logs, { recursive: true, mode: 0o700 });
    folder.write(record);
    return folder;
  }

  /**
   * Every run with a readable record. A folder without one is ignored, because its record may be about to be written.
   */
  static list(runs: string): FoundRun[] {
    const host = thisHost();
    return listFolders(runs).flatMap((path) => {
      const folder = new RunFolder(path);
      try {
        const record = folder.read();
        return [{ folder, record, state: judgeRun(record, host, isAlive) }];
      } catch {
        return [];
      }
    });
  }

  get id(): string {
    return basename(this.path);
  }

  get logs(): string {
    return join(this.path, "logs");
  }

  get kubeconfig(): string {
    return join(this.path, "kubeconfig.yaml");
  }

  file(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  read(): RunRecord {
    return parseRunRecord(readFileSync(join(this.path, RECORD_FILE), "utf8"));
  }

  /** Replaces the record atomically. */
  write(record: RunRecord): void {
    const temporary = join(this.path, `.${RECORD_FILE}.${process.pid}`);
    writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
    renameSync(temporary, join(this.path, RECORD_FILE));
  }

  update(change: Partial<RunRecord>): void {
    this.write({ ...this.read(), ...change });
  }

  /** Records the process of a component, instead of an earlier one. */
  recordProcess(process: ComponentProcess): void {
    const others = this.read().processes.filter(({ component }) => component !== process.component);
    this.update({ processes: [...others, process] });
  }

  /** Records that no process is left, and removes keys and data. Record and logs stay until they are pruned. */
  close(): void {
    this.update({ endedAt: new Date().toISOString() });
    for (const entry of readdirSync(this.path)) {
      if (!KEPT_AFTER_END.has(entry)) rmSync(join(this.path, entry), { recursive: true, force: true });
    }
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Removes folders of ended runs except the `keep` latest, and those without a record that are older than a day. */
export function pruneRuns(runs: string, keep: number, now: number = Date.now()): void {
  const found = RunFolder.list(runs);
  const ended = found.filter(({ state }) => state === "ended");
  ended.sort((a, b) => b.record.startedAt.localeCompare(a.record.startedAt));
  for (const { folder } of ended.slice(keep)) folder.remove();

  const known = new Set(found.map(({ folder }) => folder.path));
  for (const path of listFolders(runs)) {
    const aDayOld = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > 24 * 60 * 60 * 1000;
    if (!known.has(path) && aDayOld) new RunFolder(path).remove();
  }
}

function listFolders(parent: string): string[] {
  try {
    return readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(parent, entry.name));
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}
