import { join } from "node:path";
import { type Folders, runsFolder } from "./folders.ts";
import { withLock } from "./lock.ts";
import { removeNode } from "./node/remove-node.ts";
import { endProcesses, GRACE_MS, signalProcess } from "./process-end.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { findMarked } from "./run-mark.ts";
import { type FoundRun, pruneRuns, RunFolder } from "./run-folder.ts";

/** How many folders of ended runs stay for the reader of their logs. */
export const KEPT_ENDED_RUNS = 20;

export interface SweptRun {
  readonly id: string;
  readonly name: string;
  /** Pids that were still running and are not any more. */
  readonly ended: readonly number[];
}

/** Ends what is left of clusters whose owner is gone, and removes old folders. Runs that somebody answers for are not touched. */
export async function sweepStaleRuns(folders: Folders, graceMs: number = GRACE_MS): Promise<SweptRun[]> {
  const runs = runsFolder(folders);
  return withLock(join(folders.state, "sweep.lock"), async () => {
    const stale = RunFolder.list(runs).filter(({ state }) => state === "stale");
    const swept = await Promise.all(stale.map((run) => endRun(run, graceMs)));
    pruneRuns(runs, KEPT_ENDED_RUNS);
    return swept;
  });
}

/** Ends every process of a run, whoever started it, with its real node if it has one, and closes its folder. */
export async function endRun(run: FoundRun, graceMs: number = GRACE_MS): Promise<SweptRun> {
  const ended = run.record.realNode === null ? await endRunProcesses(run, graceMs) : removeNode(run.folder);
  run.folder.close();
  return { id: run.folder.id, name: run.record.name, ended };
}

async function endRunProcesses(run: FoundRun, graceMs: number): Promise<readonly number[]> {
  const processes = new Map<number, ProcessIdentity>();
  for (const identity of [...run.record.processes, ...findMarked(run.folder.id)]) {
    if (isAlive(identity)) processes.set(identity.pid, identity);
    // One that is paused would keep the others waiting for its answer.
    signalProcess(identity, "SIGCONT");
  }
  const last = run.record.processes.filter(({ component }) => component === "etcd").map(({ pid }) => pid);
  const isLast = ({ pid }: ProcessIdentity): boolean => last.includes(pid);
  await endProcesses(
    [...processes.values()].filter((identity) => !isLast(identity)),
    graceMs,
  );
  await endProcesses([...processes.values()].filter(isLast), graceMs);
  return [...processes.keys()];
}
