import { describe, expect, test } from "@jest/globals";
import { descriptorLimit, Descriptors } from "./descriptors.ts";

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             127832               127832               processes
Max open files            1024                 1048576              files
Max locked memory         8388608              8388608              bytes
`;

describe("the limit of descriptors", () => {
  test("is the soft one", () => expect(descriptorLimit(() => LIMITS)).toBe(1024));
  test("is none where it is unlimited", () =>
    expect(descriptorLimit(() => LIMITS.replace("1024   ", "unlimited"))).toBe(Infinity));
  test("is none where it cannot be read", () =>
    expect(
      descriptorLimit(() => {
        throw new Error("ENOENT");
      }),
    ).toBe(Infinity));
});

test.each([
  [1024, 895, false],
  [1024, 896, true],
  [20_000, 17_499, false],
  [20_000, 17_500, true],
  [1_048_576, 1_044_480, true],
  [1_048_576, 1_044_479, false],
  [Infinity, 1e9, false],
])("of %d with %d open, they are short: %j", (limit, open, short) => {
  expect(new Descriptors(limit, () => open).short).toBe(short);
});

test.each([
  [1024, 991, false],
  [1024, 992, true],
  [20_000, 19_375, true],
  [Infinity, 1e9, false],
])("of %d with %d open, they are exhausted: %j", (limit, open, exhausted) => {
  expect(new Descriptors(limit, () => open).exhausted).toBe(exhausted);
});
