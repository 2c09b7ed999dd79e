import { describe, expect, test } from "@jest/globals";
import { SecretCache } from "./secret-cache.ts";

describe("a cache of Secrets", () => {
  test("gives what is young enough", () => {
    const cache = new SecretCache({ count: 10, characters: 1000 });
    cache.set("a", { key: "value" }, 100);
    expect(cache.get("a", 100)).toEqual({ key: "value" });
    expect(cache.get("a", 101)).toBeUndefined();
    expect(cache.get("b", 0)).toBeUndefined();
  });

  test("drops the oldest when there are too many", () => {
    const cache = new SecretCache({ count: 2, characters: 1000 });
    for (const key of ["a", "b", "a", "c"]) cache.set(key, {}, 1);
    expect(["a", "b", "c"].map((key) => cache.get(key, 0) !== undefined)).toEqual([true, false, true]);
  });

  test("drops the oldest when they are too large, and keeps none that is too large alone", () => {
    const cache = new SecretCache({ count: 10, characters: 100 });
    cache.set("a", { key: "x".repeat(50) }, 1);
    cache.set("b", { key: "x".repeat(50) }, 1);
    expect([cache.get("a", 0), cache.get("b", 0)]).toEqual([undefined, { key: "x".repeat(50) }]);
    cache.set("c", { key: "x".repeat(200) }, 1);
    expect(["a", "b", "c"].map((key) => cache.get(key, 0))).toEqual([undefined, undefined, undefined]);
    cache.set("d", { key: "x".repeat(90) }, 1);
    expect(cache.get("d", 0)).toBeDefined();
  });
});
