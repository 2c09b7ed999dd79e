import { expect, test } from "@jest/globals";
import { backOff } from "./back-off.ts";

test("doubles up to half a minute and never comes down to nothing", () => {
  expect([0, 1, 2, 3, 10, 1000].map((failures) => backOff(failures, () => 1))).toEqual([
    500, 1000, 2000, 4000, 30_000, 30_000,
  ]);
  expect(backOff(3, () => 0)).toBe(2000);
});
