import { expect, test } from "@jest/globals";
import { valueWords } from "./value-words.ts";

/** Replicas of a workload over clusters. */
function parts(tokyo: number, nagoya: number, osaka: number): readonly object[] {
  return Object.entries({ tokyo, nagoya, osaka }).map(([cluster, replicas]) => ({
    ...{ cluster, replicas, reason: "Weighted", note: "38 W" },
  }));
}

function pods(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `shop/a-${index + 1}`);
}

test.each([
  [null, "unknown"],
  [undefined, "unknown"],
  [0, "0"],
  [0.25, "0.25"],
  [true, "true"],
  ["east", "east"],
  ["", ""],
  [[], "none"],
  [pods(1), "shop/a-1"],
  [pods(3), "shop/a-1, shop/a-2, shop/a-3"],
  [pods(4), "shop/a-1, shop/a-2 and 2 more"],
  [pods(20), "shop/a-1, shop/a-2 and 18 more"],
  [parts(4, 0, 3), "tokyo 4, osaka 3"],
  [[...parts(4, 2, 3), { cluster: "kobe", replicas: 1 }], "tokyo 4, nagoya 2, osaka 3, kobe 1"],
  [parts(0, 0, 0), "none"],
  [{ collectors: ["a", "b", "c"], moves: 2 }, "3 collectors, 2 moves"],
  [{ collectors: ["a"], moves: 1 }, "1 collector, 1 move"],
  [{ collectors: [], moves: 0 }, "0 collectors, 0 moves"],
  [{ pods: ["a"], moves: 2, bytes: null }, "pods (a), moves 2, bytes unknown"],
  [{ pods: 1, moves: 2 }, "pods 1, moves 2"],
  [{ a: 1, b: "x" }, "a 1, b x"],
  [{ a: [], b: null }, "a none, b unknown"],
  [{ a: { b: 1, c: 2 }, d: ["e", "f"] }, "a (b 1, c 2), d (e, f)"],
  [{}, "none"],
  [[{ cluster: "a" }], "(cluster a)"],
  [[null, 1], "unknown, 1"],
])("the value %j is shown as %j", (value, words) => {
  expect(valueWords(value)).toBe(words);
});
