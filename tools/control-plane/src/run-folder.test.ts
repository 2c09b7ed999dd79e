import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { thisHost, thisProcess } from "./process-identity.ts";
import { pruneRuns, RunFolder } from "./run-folder.ts";
import type { RunRecord } from "./run-record.ts";

let runs: string;

beforeEach(() => {
  runs = join(mkdtempSync(join(tmpdir(), "control-plane-")), "runs");
});

afterEach(() => {
  rmSync(join(runs, ".."), { recursive: true, force: true });
});

function record(change: Partial<RunRecord> = {}): RunRecord {
  const startedAt = new Date().toISOString();
  return {
    ...{ name: "evenkeel", host: thisHost(), owner: thisProcess(), startedAt, endedAt: null, startupMs: null },
    ...{ server: "https://127.0.0.1:23456", nodes: 3, bin: "/cache/bin", realNode: null, processes: [], ...change },
  };
}

describe("a run's folder", () => {
  test("is found with its record as soon as it exists, and only its user may enter", () => {
    const folder = RunFolder.create(runs, record());
    const [found] = RunFolder.list(runs);
    expect(found).toMatchObject({ state: "running", record: { name: "evenkeel" } });
    expect(found?.folder.path).toBe(folder.path);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  });

  test("remembers one process a component, the latest", () => {
    const folder = RunFolder.create(runs, record());
    folder.recordProcess({ component: "etcd", pid: 101, startTicks: 1 });
    folder.recordProcess({ component: "kwok", pid: 102, startTicks: 2 });
    folder.recordProcess({ component: "etcd", pid: 103, startTicks: 3 });
    expect(folder.read().processes).toEqual([
      { component: "kwok", pid: 102, startTicks: 2 },
      { component: "etcd", pid: 103, startTicks: 3 },
    ]);
  });

  test("keeps record and logs when it is closed, and neither keys nor data", () => {
    const folder = RunFolder.create(runs, record());
    writeFileSync(folder.file("logs", "etcd.log"), "line\n");
    mkdirSync(folder.file("pki"));
    writeFileSync(folder.file("pki", "ca.key"), "secret");
    writeFileSync(folder.kubeconfig, "secret");
    folder.close();
    expect(readdirSync(folder.path).sort()).toEqual(["logs", "run.json"]);
    expect(existsSync(folder.file("logs", "etcd.log"))).toBe(true);
    expect(RunFolder.list(runs)[0]?.state).toBe("ended");
  });
});

describe("pruning", () => {
  test("removes ended runs beyond the latest and never one that runs", () => {
    const running = RunFolder.create(runs, record({ startedAt: "2020-01-01T00:00:00.000Z" }));
    const ended = [1, 2, 3].map((day) => {
      const startedAt = `2026-01-0${day}T00:00:00.000Z`;
      return RunFolder.create(runs, record({ startedAt, endedAt: startedAt }));
    });
    pruneRuns(runs, 1);
    const left = RunFolder.list(runs).map(({ folder }) => folder.path);
    expect(left.sort()).toEqual([running.path, ended[2]?.path].sort());
  });

  test("leaves a folder without a record for a day, because its maker may be about to write it", () => {
    const young = join(runs, "young");
    const old = join(runs, "old");
    mkdirSync(young, { recursive: true });
    mkdirSync(old);
    const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 60 * 60;
    utimesSync(old, twoDaysAgo, twoDaysAgo);
    pruneRuns(runs, 0);
    expect(readdirSync(runs)).toEqual(["young"]);
  });

  test("has nothing to do where nothing was ever started", () => {
    expect(RunFolder.list(runs)).toEqual([]);
    expect(() => pruneRuns(runs, 0)).not.toThrow();
  });
});
