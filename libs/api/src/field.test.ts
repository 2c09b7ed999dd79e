import { describe, expect, test } from "@jest/globals";
import type { z } from "zod";
import { durationMilliseconds } from "./duration.ts";
import { address, boundedText, int32, int64, period, timeOfDay, timestamp, timeSpan, timeZone } from "./field.ts";

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

describe.each<[string, () => z.ZodType, readonly string[], readonly string[]]>([
  [
    "a time span",
    timeSpan,
    ["0", "0s", "1m", "1h30m", "1.5h", "1.h", ".5s", "+90s", "100ms", "7us", "7µs", "7μs", "1ns", "0h1m"],
    ["", "m", "15", "-1s", "1d", "2 days", "1m ago", "1e3s", "1m\n", " 1m", ".s", "1M", "1h".repeat(33)],
  ],
  ["a period", period, ["1m", "0.5s", "0h1m", "10ns", "+1s"], ["0", "0s", "0h0.0s", "-1m", "", "1"]],
  [
    "a time of day",
    timeOfDay,
    ["00:00", "0:00", "9:05", "9:5", "09:05", "19:00", "23:59"],
    ["24:00", "25:00", "19", "19:60", "19:000", "019:00", ":30", "7:", "19:00:00", "7:30pm", "-1:00", ""],
  ],
  [
    "a time of day up to midnight",
    () => timeOfDay({ midnight: "24:00" }),
    ["24:00", "24:0", "00:00", "23:59"],
    ["24:01", "25:00", "19"],
  ],
  [
    "a time zone",
    timeZone,
    ["UTC", "Asia/Tokyo", "America/Argentina/Buenos_Aires", "Etc/GMT+9"],
    ["", "Mars/Olympus", "Asia/Tokio", "JST9", "x".repeat(65)],
  ],
  [
    "an address",
    address,
    ["http://a", "https://a:9090/b?c", "HTTP://a", "http://[::1]:9090", "http://user@a"],
    [
      "",
      "a",
      "a:9090",
      "//a",
      "http://",
      "http:///a",
      "http:// a",
      "ftp://a",
      " http://a",
      `http://${"a".repeat(2042)}`,
    ],
  ],
])("%s", (_name, field, good, bad) => {
  test.each(good)("takes %j", (text) => {
    expect(field().safeParse(text).success).toBe(true);
  });

  test.each(bad)("refuses %j", (text) => {
    expect(field().safeParse(text).error?.issues).toMatchObject([{ path: [] }]);
  });
});

test.each(["0", "0s", "1h30m", "1.5h", "1.h", ".5s", "+90s", "7µs", "7μs", "0h1m"])(
  "what a time span takes, such as %j, can be read in milliseconds",
  (text) => {
    expect(timeSpan().safeParse(text).success).toBe(true);
    expect(durationMilliseconds(text)).toBeGreaterThanOrEqual(0);
  },
);
