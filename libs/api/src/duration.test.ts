import { describe, expect, test } from "@jest/globals";
import { durationMilliseconds } from "./duration.ts";

describe("durationMilliseconds", () => {
  test.each([
    ["15m", 900_000],
    ["1h30m", 5_400_000],
    ["1h15m30.918s", 4_530_918],
    ["100ms", 100],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["-10s", -10_000],
    ["+10s", 10_000],
    ["0", 0],
    ["2 days", 172_800_000],
    ["1week 2 hours", 612_000_000],
    ["5 MIN", 300_000],
  ])("reads %j as %d ms", (text, milliseconds) => {
    expect(durationMilliseconds(text)).toBeCloseTo(milliseconds, 6);
  });

  test.each(["", "soon", "15", "m", "1m ago", "about 5m", "3 fortnights", "1.5 days", "--1s", "5 constructor", "١m"])(
    "refuses %j",
    (text) => {
      expect(durationMilliseconds(text)).toBeUndefined();
    },
  );
});
