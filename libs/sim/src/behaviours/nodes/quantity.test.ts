import { expect, test } from "@jest/globals";
import { quantity } from "./quantity.ts";

test.each([
  ["250m", 0.25],
  ["2", 2],
  [3, 3],
  ["1.5", 1.5],
  ["64Mi", 67_108_864],
  ["1Gi", 1_073_741_824],
  ["5k", 5000],
  ["1e3", 1000],
  ["2E", 2e18],
  ["", Number.NaN],
  ["many", Number.NaN],
  ["1Zi", Number.NaN],
  [undefined, Number.NaN],
])("reads %p as %p", (text, expected) => {
  expect(quantity(text)).toBe(expected);
});
