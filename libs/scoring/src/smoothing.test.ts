import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { smooth, type Smoothed } from "./smoothing.ts";

const minute = 60_000;

/** Feeds samples a minute apart. */
function fed(samples: readonly (number | undefined)[], timeConstant: number, state?: Smoothed): Smoothed | undefined {
  return samples.reduce<Smoothed | undefined>(
    (before, sample, index) => smooth(before, sample, (index + 1) * minute, timeConstant),
    state,
  );
}

describe("smoothing", () => {
  test("takes the first known sample as it is", () => {
    expect(smooth(undefined, 7, 1_000, minute)).toEqual({ value: 7, at: 1_000 });
  });

  test("has no value before the first known sample", () => {
    expect(smooth(undefined, undefined, 1_000, minute)).toBeUndefined();
  });

  test.each([
    [1, 0.6321205588285577],
    [2, 0.8646647167633873],
    [3, 0.950212931632136],
  ])("has come as far after %p time constants as an exponential does", (constants, value) => {
    expect(smooth({ value: 0, at: 0 }, 1, constants * minute, minute)?.value).toBeCloseTo(value, 14);
  });

  test("returns the same state for an unknown sample, and gives the next its whole time", () => {
    const state = { value: 10, at: 0 };
    expect(smooth(state, undefined, minute, minute)).toBe(state);
    expect(fed([undefined, undefined, 20], minute, state)).toEqual(smooth(state, 20, 3 * minute, minute));
  });

  test("does not smooth with a time constant of 0", () => {
    expect(smooth({ value: 10, at: 0 }, 20, 1, 0)).toEqual({ value: 20, at: 1 });
  });

  test("takes the new sample whole when the last is ages ago", () => {
    expect(smooth({ value: 10, at: 0 }, 20, 2 ** 52, 1)?.value).toBe(20);
  });

  test("goes on after a clock that jumped back, one sample later", () => {
    const jumped = smooth({ value: 10, at: 1_000 * minute }, 20, 0, minute);
    expect(jumped).toEqual({ value: 10, at: 0 });
    expect(smooth(jumped, 20, minute, minute)?.value).toBeCloseTo(16.32, 2);
  });

  test("gives a second sample of the same time no weight", () => {
    expect(smooth({ value: 10, at: 5 }, 99, 5, minute)).toEqual({ value: 10, at: 5 });
  });

  test("does not overflow between the greatest doubles", () => {
    const state = { value: -Number.MAX_VALUE, at: 0 };
    expect(smooth(state, Number.MAX_VALUE, minute, minute)?.value).toBeCloseTo(
      0.2642411176571153 * Number.MAX_VALUE,
      -296,
    );
  });

  test.each([NaN, Infinity, -Infinity])("refuses the sample %p and says so", (sample) => {
    expect(() => smooth({ value: 1, at: 0 }, sample, 1, minute)).toThrow(
      expect.objectContaining({
        code: "EK_SCORING_BAD_NUMBER",
        message: expect.stringMatching(/^the sample must/) as unknown,
      }),
    );
  });

  test("refuses a bad time, time constant or state", () => {
    expect(() => smooth(undefined, 1, NaN, minute)).toThrow(/the sample's time/);
    expect(() => smooth(undefined, 1, 2 ** 53, minute)).toThrow(/the sample's time/);
    expect(() => smooth(undefined, 1, "5" as unknown as number, minute)).toThrow(/the sample's time/);
    expect(() => smooth(undefined, 1, 0, -1)).toThrow(/the time constant/);
    expect(() => smooth(undefined, 1, 0, Infinity)).toThrow(/the time constant/);
    expect(() => smooth({ value: NaN, at: 0 }, 1, 1, minute)).toThrow(/the smoothed value must/);
    expect(() => smooth({ value: 1, at: NaN }, 1, 1, minute)).toThrow(/the smoothed value's time/);
  });

  const sample = fc.double({ noNaN: true, noDefaultInfinity: true });
  const span = fc.integer({ min: 0, max: 10 * minute });

  test("stays between the value it had and the sample", () => {
    fc.assert(
      fc.property(sample, sample, span, span, (value, next, elapsed, timeConstant) => {
        const smoothed = smooth({ value, at: 0 }, next, elapsed, timeConstant)?.value;
        expect(smoothed).toBeGreaterThanOrEqual(Math.min(value, next));
        expect(smoothed).toBeLessThanOrEqual(Math.max(value, next));
      }),
      { numRuns: 2_000 },
    );
  });

  test("does not care how often a level is sampled", () => {
    const level = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(level, level, span, span, (value, next, first, second) => {
        const once = smooth({ value, at: 0 }, next, first + second, minute)?.value;
        const twice = smooth(smooth({ value, at: 0 }, next, first, minute), next, first + second, minute)?.value;
        expect(twice).toBeCloseTo(once ?? NaN, 6);
      }),
      { numRuns: 1_000 },
    );
  });

  test("keeps a constant exactly", () => {
    fc.assert(
      fc.property(sample, fc.array(span, { maxLength: 20 }), (value, times) => {
        const last = times.reduce<Smoothed | undefined>((state, at) => smooth(state, value, at, minute), {
          value,
          at: 0,
        });
        expect(last?.value).toBe(value);
      }),
      { numRuns: 1_000 },
    );
  });
});
