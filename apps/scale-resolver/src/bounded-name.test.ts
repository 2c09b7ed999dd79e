import { describe, expect, test } from "@jest/globals";
import { boundedName } from "./bounded-name.ts";

describe("a bounded name", () => {
  test("is the name itself where that fits", () => {
    expect(boundedName("a".repeat(63), 63)).toBe("a".repeat(63));
  });

  test("is truncated, and stays different for names with the same prefix", () => {
    const names = ["x", "y"].map((end) => boundedName(`${"a".repeat(100)}${end}`, 63));
    expect(names[0]).toMatch(/^a{52}-[\da-f]{10}$/);
    expect(new Set(names).size).toBe(2);
  });

  test("has no dot before the hash", () => {
    expect(boundedName(`${"a".repeat(50)}.-${"b".repeat(50)}`, 63)).toMatch(/^a{50}-[\da-f]{10}$/);
  });
});
