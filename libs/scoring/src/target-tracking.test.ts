import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Decimal } from "./rational.ts";
import { trackTarget, type TrackedTarget } from "./target-tracking.ts";

const route53 = { minimum: 0, maximum: 255 };
const anything = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

describe("the tracked weight", () => {
  test.each<[string, TrackedTarget, number]>([
    ["three times the target doubles the base", { base: 8, metric: 3000, target: 1000 }, 16],
    ["below the target it is none", { base: 10, metric: 80, target: 100 }, 0],
    ["at the target it is none", { base: 10, metric: 100, target: 100 }, 0],
    ["a fifth above the target it is a fifth of the base", { base: 10, metric: 120, target: 100 }, 2],
    ["three times a target of 100", { base: 10, metric: 300, target: 100 }, 20],
    ["a tenth above the target it is 1, where doubles give 2", { base: 10, metric: 110, target: 100 }, 1],
    ["2.1 against 0.3 is 6, where doubles give 7", { base: 1, metric: 2.1, target: 0.3 }, 6],
    ["0.3 against 0.1 is exactly 2", { base: 1, metric: 0.3, target: 0.1 }, 2],
    ["the least excess asks for 1", { base: 8, metric: "1000.000000000000000000000001", target: 1000 }, 1],
    ["the least lack asks for none", { base: 8, metric: "999.999999999999999999999999", target: 1000 }, 0],
    ["a base of 0 asks for none", { base: 0, metric: 3000, target: 1000 }, 0],
    ["a negative metric asks for none", { base: 8, metric: -3000, target: 1000 }, 0],
    ["Prometheus' own notation is read", { base: "8", metric: "3e+03", target: "1e3" }, 16],
  ])("%s", (_name, tracked, weight) => {
    expect(trackTarget(tracked, route53)).toEqual({ weight, bound: "none" });
  });

  test("stays at what Route 53 takes when the load asks for more", () => {
    expect(trackTarget({ base: 8, metric: 1e300, target: 1 }, route53)).toEqual({ weight: 255, bound: "maximum" });
    expect(trackTarget({ base: 255, metric: 2, target: 1 }, route53)).toEqual({ weight: 255, bound: "none" });
  });

  test("stays at the minimum when the load asks for less", () => {
    const range = { minimum: 3, maximum: 255 };
    expect(trackTarget({ base: 8, metric: 0, target: 1000 }, range)).toEqual({ weight: 3, bound: "minimum" });
    expect(trackTarget({ base: 3, metric: 2, target: 1 }, range)).toEqual({ weight: 3, bound: "none" });
  });

  test.each<[string, TrackedTarget, string]>([
    ["a lost metric", { base: 8, metric: NaN, target: 1000 }, "the metric"],
    ["an infinite metric", { base: 8, metric: Infinity, target: 1000 }, "the metric"],
    ["an empty metric", { base: 8, metric: "", target: 1000 }, "the metric"],
    ["a target of zero", { base: 8, metric: 0, target: 0 }, "the target"],
    ["a negative target", { base: 8, metric: 0, target: "-1" }, "the target"],
    ["a negative base", { base: -8, metric: 0, target: 1 }, "the base"],
  ])("refuses %s", (_name, tracked, what) => {
    expect(() => trackTarget(tracked, route53)).toThrow(
      expect.objectContaining({ code: "EK_SCORING_BAD_NUMBER", message: expect.stringContaining(what) as unknown }),
    );
  });

  test("refuses a range that is upside down or not whole", () => {
    const tracked = { base: 8, metric: 3000, target: 1000 };
    expect(() => trackTarget(tracked, { minimum: 2, maximum: 1 })).toThrow(
      expect.objectContaining({ code: "EK_SCORING_WRONG_ORDER" }),
    );
    expect(() => trackTarget(tracked, { minimum: 0.5, maximum: 1 })).toThrow(/the least weight/);
    expect(() => trackTarget(tracked, { minimum: 0, maximum: Infinity })).toThrow(/the greatest weight/);
  });

  test("is right at every point of a grid of whole numbers", () => {
    let wrong = 0;
    for (let base = 1; base <= 20; base += 1) {
      for (let target = 1; target <= 40; target += 1) {
        for (let metric = 0; metric <= 120; metric += 1) {
          const excess = base * Math.max(0, metric - target);
          const exact = (excess - (excess % target)) / target + (excess % target > 0 ? 1 : 0);
          if (trackTarget({ base, metric, target }, anything).weight !== exact) wrong += 1;
        }
      }
    }
    expect(wrong).toBe(0);
  });

  const decimal = fc
    .tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: -6, max: 3 }))
    .map(([digits, power]): Decimal => `${digits}e${power}`);

  test("is the least whole weight at which the base record bears no more than the target", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 255 }),
        fc.nat(1_000_000),
        fc.integer({ min: 1, max: 1_000_000 }),
        (base, metric, target) => {
          const { weight } = trackTarget({ base, metric, target }, anything);
          const borne = (at: number) => BigInt(metric) * BigInt(base) <= BigInt(target) * BigInt(base + at);
          expect(borne(weight)).toBe(true);
          if (weight > 0) expect(borne(weight - 1)).toBe(false);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("never falls when the metric rises", () => {
    fc.assert(
      fc.property(fc.nat(255), decimal, fc.nat(1_000_000), fc.nat(1_000_000), (base, target, a, b) => {
        const weight = (metric: number) => trackTarget({ base, metric, target }, anything).weight;
        expect(weight(Math.min(a, b))).toBeLessThanOrEqual(weight(Math.max(a, b)));
      }),
      { numRuns: 1_000 },
    );
  });
});
