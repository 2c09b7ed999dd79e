import { describe, expect, test } from "@jest/globals";
import { faultsOf, type HeapSample, type Soaked } from "./verdict.ts";

/** A sample every five seconds for ten minutes. */
const heap = (bytes: (minute: number) => number): HeapSample[] =>
  Array.from({ length: 120 }, (_empty, index) => ({ at: index * 5, bytes: bytes(Math.floor(index / 12) + 1) }));

const replays = Array.from({ length: 100 }, (_empty, index) => ({ id: String(index), same: true }));

const fine: Soaked = {
  minutes: 10,
  heap: heap(() => 1000),
  errors: [],
  warnings: 7,
  stderr: "",
  exitCode: 0,
  replays,
  astray: [],
};

test("a run in which nothing is wrong has no faults", () => {
  expect(faultsOf(fine)).toEqual([]);
});

describe("the heap", () => {
  test.each([
    ["may be 5 % above the third minute's in the last", (minute: number) => (minute === 10 ? 1050 : 1000), []],
    ["may be anything while the process warms up", (minute: number) => (minute < 3 ? 10 : 1000), []],
    [
      "may not be more",
      (minute: number) => (minute === 10 ? 1051 : 1000),
      ["the heap grew by 5.1 %, which is more than 5.0 %"],
    ],
    [
      "may not creep up by a part in each minute",
      (minute: number) => 1000 + 10 * minute,
      ["the heap grew by 6.8 %, which is more than 5.0 %"],
    ],
  ])("%s", (_sentence, bytes, faults) => {
    expect(faultsOf({ ...fine, heap: heap(bytes) })).toEqual(faults);
  });

  test("is not judged in a run that is too short, but must be known", () => {
    const short = Array.from({ length: 12 }, (_empty, index) => ({ at: index * 5, bytes: 1000 + 100 * index }));
    expect(faultsOf({ ...fine, minutes: 1, heap: short })).toEqual([]);
    expect(faultsOf({ ...fine, minutes: 1, heap: [] })).toEqual(["there are too few samples of the heap"]);
  });
});

test.each([
  ["an error in the log", { errors: ["oh"] }, "1 lines of the log are errors; the first: oh"],
  ["a world without trouble", { warnings: 0 }, "no trouble has reached the service: its log has no warning"],
  ["words on stderr", { stderr: "oh" }, "the process wrote to stderr: oh"],
  ["a process that ended otherwise than asked", { exitCode: null }, "the process ended with a signal, not with 0"],
  ["too few snapshots", { replays: replays.slice(1) }, "only 99 snapshots could be taken, not 100"],
  [
    "a snapshot that leads to another decision",
    { replays: [...replays, { id: "x", same: false }] },
    "1 snapshots lead to other decisions: x",
  ],
  ["a weight that is not what it should be", { astray: ["a is 1, not 2"] }, "1 weights are astray: a is 1, not 2"],
])("%s is a fault", (_case, change, fault) => {
  expect(faultsOf({ ...fine, ...change })).toEqual([fault]);
});
