import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { formatDuration, parseDuration } from "./duration.ts";

test.each([
  ["60s", "1m"],
  ["90s", "1m30s"],
  ["90d", "90d"],
  ["14d", "2w"],
  ["365d", "1y"],
  ["1500ms", "1s500ms"],
  ["0s", "0s"],
  ["0", "0s"],
  ["1d1h", "1d1h"],
])("writes %s as %s", (text, written) => {
  expect(formatDuration(parseDuration(text) ?? -1n)).toBe(written);
});

test.each(["", "1", "s", "-1s", "1m1h", "1s1s", "1.5s", " 1s", "1S", "293y", "99999999999999999999s", "1µs"])(
  'does not take "%s" for a duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test("reads what it writes", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 9_000_000_000_000n), (milliseconds) => {
      expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
    }),
  );
});
