import { expect, test } from "@jest/globals";
import { RunFolder } from "./run-folder.ts";
import type { RunRecord } from "./run-record.ts";
import { reportRun } from "./run-report.ts";

const record: RunRecord = {
  name: "evenkeel",
  host: { boot: "boot-1", pidNamespace: "pid:[1]" },
  owner: null,
  startedAt: "2026-01-01T00:00:00.000Z",
  endedAt: null,
  startupMs: 3140,
  server: "https://127.0.0.1:23456",
  nodes: 3,
  bin: "/cache/bin",
  realNode: null,
  processes: [
    { component: "etcd", pid: 101, startTicks: 1 },
    { component: "kwok", pid: 102, startTicks: 2 },
  ],
};
const folder = new RunFolder("/runs/evenkeel-1");
const sources = {
  now: Date.parse("2026-01-01T00:12:30.000Z"),
  isAlive: ({ pid }: { pid: number }) => pid === 101,
  residentBytes: () => 41_600_000,
};

test("a running cluster is reported with its kubeconfig and the memory of each component", () => {
  expect(reportRun({ folder, record, state: "running" }, sources)).toEqual([
    "evenkeel-1: running, kept, 3 nodes, https://127.0.0.1:23456",
    "  started 12 min ago, ready in 3.1 s, logs /runs/evenkeel-1/logs",
    "  export KUBECONFIG=/runs/evenkeel-1/kubeconfig.yaml",
    "  etcd                     pid 101         42 MB",
    "  kwok                     pid 102      not running",
    "  all                                      42 MB",
  ]);
});

test("an ended cluster is reported with the place of its logs and nothing that is gone", () => {
  const owned = { ...record, owner: { pid: 99, startTicks: 1 }, endedAt: "2026-01-01T01:00:00.000Z" };
  expect(reportRun({ folder, record: owned, state: "ended" }, sources)).toEqual([
    "evenkeel-1: ended, owned by process 99, 3 nodes, https://127.0.0.1:23456",
    "  ended 2026-01-01T01:00:00.000Z, logs /runs/evenkeel-1/logs",
  ]);
});
