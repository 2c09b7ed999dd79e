import { expect, test } from "@jest/globals";
import { relativeTime, spanText } from "./relative-time.ts";

const now = Date.parse("2026-01-01T12:00:00Z");

test.each([
  [0, "now"],
  [999, "now"],
  [1000, "1 s ago"],
  [59_999, "59 s ago"],
  [60_000, "1 min ago"],
  [3_599_000, "59 min ago"],
  [7_300_000, "2 h ago"],
  [86_400_000, "1 day ago"],
  [3 * 86_400_000, "3 days ago"],
  [-5000, "in 5 s"],
  [NaN, "unknown"],
])("%d ms ago is told as %s", (age, text) => {
  expect(relativeTime(now - age, now)).toBe(text);
});

test.each([
  [0, "0 s"],
  [61_000, "1 min 1 s"],
  [3_600_000, "1 h"],
  [3_605_000, "1 h"],
  [90_061_000, "1 day 1 h"],
])("a span of %d ms is %s", (span, text) => {
  expect(spanText(span)).toBe(text);
});
