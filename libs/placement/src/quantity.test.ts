import { expect, test } from "@jest/globals";
import { quantity, wholeUnits } from "./quantity.ts";

test.each([
  ["250m", 0.25],
  ["2", 2],
  [3, 3],
  ["1.5", 1.5],
  [".5", 0.5],
  ["-1", -1],
  ["64Mi", 67_108_864],
  ["1.5Gi", 1_610_612_736],
  ["2Ei", 2 ** 61],
  ["5k", 5000],
  ["3u", 3e-6],
  ["7n", 7e-9],
  ["1e3", 1000],
  ["12E-1", 1.2],
  ["2E", 2e18],
  ["", Number.NaN],
  ["many", Number.NaN],
  ["1Zi", Number.NaN],
  ["1 Gi", Number.NaN],
  ["1e", Number.NaN],
])("reads %p as %p", (text, expected) => {
  expect(quantity(text)).toBe(expected);
});

test.each([
  ["0.1", 3, 100],
  ["1.0005", 3, 1001],
  ["1n", 3, 1],
  ["0.3", 3, 300],
  ["1500m", 0, 2],
  ["100Mi", 0, 104_857_600],
  ["none", 0, Number.NaN],
] as const)("%p in units of 10^-%p is %p, rounded up", (text, digits, expected) => {
  expect(wholeUnits(text, digits)).toBe(expected);
});
