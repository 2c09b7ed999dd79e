import { describe, expect, test } from "@jest/globals";
import { identify, isAlive, isOver, parseStat, residentBytes, thisProcess } from "./process-identity.ts";

const rest = "1 7 7 0 -1 4194304 96 0 0 0 0 0 0 0 20 0 1 0 91812 3133440 363";

describe("a line of /proc/<pid>/stat", () => {
  test("gives state, threads and start time", () => {
    expect(parseStat(`42 (etcd) S ${rest}`)).toEqual({ state: "S", threads: 1, startTicks: 91_812 });
  });

  test("is read rightly when the command's name imitates the fields", () => {
    expect(parseStat(`42 (a) Z 1 2 (b)) R ${rest}`)).toEqual({ state: "R", threads: 1, startTicks: 91_812 });
  });

  test.each(["", "42 (etcd)", "42 (etcd) S 1 2 3", `42 (etcd) S ${rest.replace("91812", "x")}`])(
    "is refused when it is %j",
    (line) => {
      expect(parseStat(line)).toBeUndefined();
    },
  );
});

test.each([
  ["Z", 1, true],
  ["Z", 0, true],
  ["Z", 9, false],
  ["X", 1, true],
  ["S", 1, false],
  ["T", 1, false],
])("a process in state %s with %i threads is over: %s", (state, threads, over) => {
  expect(isOver({ state, threads, startTicks: 1 })).toBe(over);
});

test("this process is alive under its identity and not under that of an earlier owner of its pid", () => {
  const identity = thisProcess();
  expect(isAlive(identity)).toBe(true);
  expect(isAlive({ ...identity, startTicks: identity.startTicks - 1 })).toBe(false);
});

test("a pid that nobody has is not identified and has no memory", () => {
  const nobody = 2 ** 22 + 1;
  expect(identify(nobody)).toBeUndefined();
  expect(residentBytes(nobody)).toBeUndefined();
  expect(isAlive({ pid: nobody, startTicks: 1 })).toBe(false);
});

test("memory is counted in bytes", () => {
  expect(residentBytes(process.pid)).toBeGreaterThan(10e6);
});
