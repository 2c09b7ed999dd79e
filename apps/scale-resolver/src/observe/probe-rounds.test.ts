import { expect, test } from "@jest/globals";
import { nextProbeAt } from "./probe-rounds.ts";

test("the first round is one settle time after the resolver joined, and later ones are less frequent", () => {
  const rounds: number[] = [];
  for (let at = 1000; rounds.length < 7;) rounds.push((at = nextProbeAt(1000, 2000, at)));
  expect(rounds.map((at) => (at - 1000) / 2000)).toEqual([1, 2, 4, 8, 16, 24, 32]);
});

test("a look between two rounds waits for the next", () => {
  expect([0, 1000, 2999, 3000, 5500, 9000].map((at) => nextProbeAt(1000, 2000, at))).toEqual([
    3000, 3000, 3000, 5000, 9000, 17_000,
  ]);
});

test("without a settle time every look may probe", () => {
  expect(nextProbeAt(1000, 0, 1234)).toBe(1234);
});
