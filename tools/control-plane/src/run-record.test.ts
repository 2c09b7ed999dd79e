import { describe, expect, test } from "@jest/globals";
import type { ProcessIdentity } from "./process-identity.ts";
import { judgeRun, parseRunRecord, type RunRecord } from "./run-record.ts";

const host = { boot: "boot-1", pidNamespace: "pid:[1]" };
const owner = { pid: 100, startTicks: 5000 };
const etcd = { component: "etcd", pid: 101, startTicks: 5001 } as const;

const record: RunRecord = {
  name: "evenkeel",
  host,
  owner,
  startedAt: "2026-01-01T00:00:00.000Z",
  endedAt: null,
  startupMs: 3100,
  server: "https://127.0.0.1:23456",
  nodes: 3,
  bin: "/cache/bin",
  realNode: null,
  processes: [etcd],
};

/** A world in which exactly these processes run. */
const alive =
  (...running: ProcessIdentity[]) =>
  ({ pid, startTicks }: ProcessIdentity): boolean =>
    running.some((process) => process.pid === pid && process.startTicks === startTicks);

describe("a run is judged", () => {
  test("running while its owner lives, even before its first process", () => {
    expect(judgeRun({ ...record, processes: [] }, host, alive(owner))).toBe("running");
  });

  test("stale when its owner is gone", () => {
    expect(judgeRun(record, host, alive(etcd))).toBe("stale");
  });

  test("stale when another process has got the owner's pid", () => {
    expect(judgeRun(record, host, alive({ ...owner, startTicks: 9999 }, etcd))).toBe("stale");
  });

  test("running without an owner when it is kept and one of its processes lives", () => {
    expect(judgeRun({ ...record, owner: null }, host, alive(etcd))).toBe("running");
  });

  test("ended when it is kept and other processes have got the pids of its own", () => {
    expect(judgeRun({ ...record, owner: null }, host, alive({ ...etcd, startTicks: 9999 }))).toBe("ended");
  });

  test("stale when it is kept, none of its processes lives and containers of its real node may", () => {
    const realNode = { bin: "/cache/bin" };
    expect(judgeRun({ ...record, owner: null, realNode }, host, alive())).toBe("stale");
  });

  test("ended once it says so, whatever runs", () => {
    expect(judgeRun({ ...record, endedAt: "2026-01-01T01:00:00.000Z" }, host, alive(owner, etcd))).toBe("ended");
  });

  test("ended when the machine has booted since", () => {
    expect(judgeRun(record, { ...host, boot: "boot-2" }, alive(owner, etcd))).toBe("ended");
  });

  test("foreign when its pids belong to another container of this machine", () => {
    expect(judgeRun(record, { ...host, pidNamespace: "pid:[2]" }, alive())).toBe("foreign");
  });
});

describe("a record", () => {
  test("reads back as it was written", () => {
    expect(parseRunRecord(JSON.stringify(record))).toEqual(record);
    const kept = { ...record, owner: null, startupMs: null, endedAt: "2026-01-01T01:00:00.000Z" };
    expect(parseRunRecord(JSON.stringify(kept))).toEqual(kept);
    const real = { ...record, realNode: { bin: "/cache/node" } };
    expect(parseRunRecord(JSON.stringify(real))).toEqual(real);
  });

  test("of an older version has no real node", () => {
    expect(parseRunRecord(JSON.stringify({ ...record, realNode: undefined }))).toEqual(record);
  });

  test.each([
    ["an owner that means every process", { owner: { pid: -1, startTicks: 1 } }, "pid of owner"],
    ["an owner that means this process group", { owner: { pid: 0, startTicks: 1 } }, "pid of owner is 0"],
    ["a component with the pid of init", { processes: [{ ...etcd, pid: 1 }] }, "pid of etcd is 1"],
    ["a pid that is text", { processes: [{ ...etcd, pid: "101" }] }, "pid of etcd is not a count"],
    ["a process without a start time", { processes: [{ component: "etcd", pid: 101 }] }, "startTicks of etcd"],
    ["an unknown component", { processes: [{ ...etcd, component: "sshd" }] }, "no known component"],
    ["no list of processes", { processes: {} }, "processes is not a list"],
    ["a real node without programs", { realNode: {} }, "bin of realNode is not a string"],
    ["no host", { host: null }, "host is not an object"],
    ["no owner and no word of being kept", { owner: undefined }, "owner is not an object"],
  ])("is refused with %s", (_, change, reason) => {
    expect(() => parseRunRecord(JSON.stringify({ ...record, ...change }))).toThrow(reason);
  });

  test.each(["", "null", "[", "7"])("is refused when the file holds %j", (text) => {
    expect(() => parseRunRecord(text)).toThrow();
  });
});
