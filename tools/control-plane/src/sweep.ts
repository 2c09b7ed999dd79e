import { join } from "node:path";
import { type Folders, runsFolder } from "./folders.ts";
import { withLock } from "./lock.ts";
import { removeNode } from "./node/remove-node.ts";
import { endProcesses, GRACE_MS, signalProcess } from "./process-end.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { findMarked } from "./run-mark.ts";
import { type FoundRun, pruneRuns, RunFolder } from "./run-folder.ts";

/** Number of folders of ended runs that are kept for their logs. */
const KEPT_ENDED_RUNS = 20;

export interface SweptRun {
  readonly id: string;
  readonly name: string;
  /** Pids of the processes that were ended. */
  readonly ended: readonly number[];
}

/** Ends the processes of clusters without a living owner, and removes old folders. Other runs are not touched. */
export async function sweepStaleRuns(folders: Folders, graceMs: number = GRACE_MS): Promise<SweptRun[]> {
  const runs = runsFolder(folders);
  return withLock(join(folders.state, "sweep.lock"), async () => {
    const stale = RunFolder.list(runs).filter(({ state }) => state === "stale");
    const swept = await Promise.all(stale.map((run) => endRun(run, graceMs)));
    pruneRuns(runs, KEPT_ENDED_RUNS);
    return swept;
  });
}

/** Ends every process of a run, with its real node if it has one, and closes its folder. */
export async function endRun(run: FoundRun, graceMs: number = GRACE_MS): Promise<SweptRun> {
  const ended = run.record.realNode === null ? await endRunProcesses(run, graceMs) : removeNode(run.folder);
  run.folder.close();
  return { id: run.folder.id, name: run.record.name, ended };
}

async function endRunProcesses(run: FoundRun, graceMs: number): Promise<readonly number[]> {
  const processes = new Map<number, ProcessIdentity>();
  for (const identity of [...run.record.processes, ...findMarked(run.folder.id)]) {
    if (isAlive(identity)) processes.set(identity.pid, identity);
    // The others would wait for a paused process.
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
