import { expect, test } from "@jest/globals";
import { record } from "../testing/seed-snapshot.ts";
import { shareOf } from "./share.ts";

test("a target's share is its part of all weights", () => {
  expect(shareOf(record(16))).toBeCloseTo(2 / 3, 15);
  expect(shareOf(record(0))).toBe(0);
  expect(shareOf(record(5, { others: [] }))).toBe(1);
});

test("a target without a known weight, or without a set, has no share", () => {
  expect(shareOf(record(null))).toBeNull();
  expect(shareOf(record(0, { others: [{ name: "base", weight: 0 }] }))).toBeNull();
});
