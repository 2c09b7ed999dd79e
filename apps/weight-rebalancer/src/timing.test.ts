import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { intervalOf, queryLimit, reconcileDeadline, untilNextReconcile } from "./timing.ts";

describe("the interval", () => {
  test.each([
    ["1m", 60_000],
    ["1h30m", 5_400_000],
    ["500ms", 1000],
    [undefined, 60_000],
  ])("of %s is %p milliseconds", (interval, milliseconds) => {
    expect(intervalOf(interval === undefined ? {} : { interval })).toBe(milliseconds);
  });
});

describe("the deadline of a query", () => {
  test.each([
    ["is its timeout", 20, "1m", 20_000],
    ["is an interval at most", 3600, "1m", 60_000],
    ["may be half a minute in a shorter interval", 3600, "1s", 30_000],
    ["is five minutes at most", 2_147_483, "24h", 300_000],
  ])("%s", (_name, timeout, interval, milliseconds) => {
    expect(queryLimit(timeout, { interval })).toBe(milliseconds);
    const prometheus = { address: "http://prometheus", query: "load", timeout };
    expect(reconcileDeadline({ interval, metrics: { prometheus } })).toBe(Math.max(30_000, milliseconds) + 90_000);
  });
});

describe("the next reconcile", () => {
  test("falls together for all that have the same interval, but for a second at most", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.string(), fc.string(), (now, one, other) => {
        const [first, second] = [untilNextReconcile(now, 60_000, one), untilNextReconcile(now, 60_000, other)];
        expect(Math.abs(first - second)).toBeLessThan(1000);
      }),
    );
  });

  test("comes within an interval and its spread, and never at once for ever", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e12 }),
        fc.integer({ min: 1000, max: 4e6 }),
        fc.string(),
        (now, interval, key) => {
          const wait = untilNextReconcile(now, interval, key);
          expect(wait).toBeGreaterThan(0);
          expect(wait).toBeLessThanOrEqual(interval * 1.05);
        },
      ),
    );
  });
});
