import { describe, expect, test } from "@jest/globals";
import { boundedText, int32, int64, timestamp } from "./field.ts";

describe("timestamp", () => {
  test.each([
    "2026-11-01T00:00:00Z",
    "2026-11-01T00:00:00.123456789Z",
    "2024-02-29T23:59:59+09:00",
    "2026-11-01t00:00:00z",
  ])("takes %s", (text) => {
    expect(timestamp().safeParse(text).success).toBe(true);
  });

  test.each([
    "",
    "2026-11-01",
    "2026-11-01T00:00Z",
    "2026-11-01T00:00:00",
    "2026-11-01T24:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-11-01T00:00:00Z\n",
  ])("refuses %j", (text) => {
    expect(timestamp().safeParse(text).success).toBe(false);
  });
});

describe("integers", () => {
  test("of 32 bits end where Go's do", () => {
    expect(int32().safeParse(2 ** 31 - 1).success).toBe(true);
    expect(int32().safeParse(2 ** 31).success).toBe(false);
    expect(int32().safeParse(-(2 ** 31)).success).toBe(true);
  });

  test("of 64 bits are refused where JavaScript would round them", () => {
    expect(int64().safeParse(2 ** 53 - 1).success).toBe(true);
    expect(int64().safeParse(2 ** 53).success).toBe(false);
  });
});

test("text is bounded by its characters, not by its UTF-16 units", () => {
  expect(boundedText(3).safeParse("🙂🙂🙂").success).toBe(true);
  expect(boundedText(3).safeParse("🙂🙂🙂🙂").success).toBe(false);
});
