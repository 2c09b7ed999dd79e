import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { type Folders, runsFolder } from "../src/folders.ts";
import { identify, isAlive, type ProcessIdentity, thisHost, thisProcess } from "../src/process-identity.ts";
import { RunFolder } from "../src/run-folder.ts";
import { runMark } from "../src/run-mark.ts";
import type { RunRecord } from "../src/run-record.ts";
import { sweepStaleRuns } from "../src/sweep.ts";

jest.setTimeout(60_000);

let folders: Folders;
let children: ChildProcess[];

beforeEach(() => {
  const base = mkdtempSync(join(tmpdir(), "control-plane-"));
  folders = { cache: join(base, "cache"), state: join(base, "state") };
  children = [];
});

afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(join(folders.state, ".."), { recursive: true, force: true });
});

/** Starts a process that stands for a component. */
function component(environment: NodeJS.ProcessEnv = {}): ProcessIdentity {
  const child = spawn("sleep", ["600"], { stdio: "ignore", env: { ...process.env, ...environment } });
  children.push(child);
  const identity = identify(child.pid ?? 0);
  if (identity === undefined) throw new Error("sleep did not start");
  return identity;
}

/** An owner that was this process's pid before it, and is gone. */
function deadOwner(): ProcessIdentity {
  const { pid, startTicks } = thisProcess();
  return { pid, startTicks: startTicks - 1 };
}

function createRun(owner: ProcessIdentity | null, etcd?: ProcessIdentity): RunFolder {
  const record: RunRecord = {
    ...{ name: "evenkeel", host: thisHost(), owner, startedAt: new Date().toISOString(), endedAt: null, startupMs: 1 },
    ...{ server: "https://127.0.0.1:23456", nodes: 3, bin: "/cache/bin", realNode: null },
    processes: etcd === undefined ? [] : [{ component: "etcd", ...etcd }],
  };
  return RunFolder.create(runsFolder(folders), record);
}

test("processes of a run whose owner is gone are ended", async () => {
  const etcd = component();
  const folder = createRun(deadOwner(), etcd);
  expect(await sweepStaleRuns(folders)).toEqual([{ id: folder.id, name: "evenkeel", ended: [etcd.pid] }]);
  expect(isAlive(etcd)).toBe(false);
  expect(folder.read().endedAt).not.toBeNull();
  expect(await sweepStaleRuns(folders)).toEqual([]);
});

test("a process that its owner had no time to record is found by its mark", async () => {
  const folder = createRun(deadOwner());
  const unrecorded = component(runMark(folder.id));
  const bystander = component(runMark("another-run"));
  await sweepStaleRuns(folders);
  expect(isAlive(unrecorded)).toBe(false);
  expect(isAlive(bystander)).toBe(true);
});

test("a live process whose pid stands in a stale record with another start time is left alone", async () => {
  const bystander = component();
  createRun(deadOwner(), { ...bystander, startTicks: bystander.startTicks - 1 });
  const [swept] = await sweepStaleRuns(folders);
  expect(swept?.ended).toEqual([]);
  expect(isAlive(bystander)).toBe(true);
});

test("runs with a live owner and kept runs are left alone", async () => {
  const owned = component();
  const kept = component();
  createRun(thisProcess(), owned);
  createRun(null, kept);
  expect(await sweepStaleRuns(folders)).toEqual([]);
  expect([owned, kept].map(isAlive)).toEqual([true, true]);
});

test("sweeps at the same time end each run once", async () => {
  createRun(deadOwner(), component());
  const swept = await Promise.all([1, 2, 3].map(() => sweepStaleRuns(folders)));
  expect(swept.flat()).toHaveLength(1);
});
