import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ScoringError } from "./errors.ts";
import {
  add,
  ceil,
  compare,
  decimalSum,
  divide,
  floor,
  multiply,
  proportions,
  rational,
  subtract,
  sum,
} from "./rational.ts";

const fraction = (numerator: bigint, denominator: bigint) => ({ numerator, denominator });

describe("a rational", () => {
  test.each([
    ["3000", fraction(3000n, 1n)],
    ["0.1", fraction(1n, 10n)],
    ["1e3", fraction(1000n, 1n)],
    ["1E+3", fraction(1000n, 1n)],
    ["25e-2", fraction(1n, 4n)],
    ["-0.50", fraction(-1n, 2n)],
    ["+7.", fraction(7n, 1n)],
    [".5", fraction(1n, 2n)],
    ["000", fraction(0n, 1n)],
    ["-0", fraction(0n, 1n)],
    [0.1, fraction(1n, 10n)],
    [-0, fraction(0n, 1n)],
    [1e21, fraction(10n ** 21n, 1n)],
    [5e-324, fraction(1n, 2n * 10n ** 323n)],
    [Number.MAX_VALUE, fraction(17976931348623157n * 10n ** 292n, 1n)],
    [42n, fraction(42n, 1n)],
  ])("reads %p as the decimal it is written as", (value, expected) => {
    expect(rational(value)).toEqual(expected);
  });

  test.each(["", ".", "-", "e3", "1e", "1.2.3", "0x10", " 1", "1 ", "1_000", "NaN", "Infinity", "١", "1e1.5"])(
    "refuses %p",
    (value) => {
      expect(() => rational(value)).toThrow(expect.objectContaining({ code: "EK_SCORING_BAD_NUMBER" }));
    },
  );

  test.each([NaN, Infinity, -Infinity])("refuses %p", (value) => {
    expect(() => rational(value, "the metric")).toThrow(
      /^the metric must be a decimal number .*, not -?(NaN|Infinity)$/,
    );
  });

  test("refuses a number whose digits would exhaust memory, and shows only its beginning", () => {
    for (const hostile of ["1e999999999", "1e-999999999", "1e99999999999999999999999", "9".repeat(1_000_000)]) {
      expect(() => rational(hostile)).toThrow(ScoringError);
    }
    expect(() => rational("9".repeat(1_000_000))).toThrow(/^.{1,200}$/s);
  });

  test("rounds down and up on both sides of zero", () => {
    expect([-1.5, -1, -0.5, 0, 0.5, 1, 1.5].map((value) => floor(rational(value)))).toEqual([
      -2n,
      -1n,
      -1n,
      0n,
      0n,
      1n,
      1n,
    ]);
    expect([-1.5, -1, -0.5, 0, 0.5, 1, 1.5].map((value) => ceil(rational(value)))).toEqual([
      -1n,
      -1n,
      0n,
      0n,
      1n,
      1n,
      2n,
    ]);
  });

  test("divides 0.3 by 0.1 to exactly 3", () => {
    expect(divide(rational(0.3), rational(0.1))).toEqual(fraction(3n, 1n));
  });

  test("keeps the denominator positive when it divides by a negative number", () => {
    expect(divide(rational(1n), rational(-2n))).toEqual(fraction(-1n, 2n));
  });

  test("refuses to divide by zero", () => {
    expect(() => divide(rational(1n), rational("0.0"))).toThrow(
      expect.objectContaining({ code: "EK_SCORING_BAD_NUMBER" }),
    );
  });

  const anyRational = fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.bigInt({ min: 1n, max: 10n ** 20n }))
    .map(([numerator, denominator]) => divide(rational(numerator), rational(denominator)));

  test("follows the laws of arithmetic", () => {
    fc.assert(
      fc.property(anyRational, anyRational, anyRational, (a, b, c) => {
        expect(subtract(add(a, b), b)).toEqual(a);
        expect(multiply(a, add(b, c))).toEqual(add(multiply(a, b), multiply(a, c)));
        expect(compare(a, b)).toBe(-compare(b, a) + 0);
        expect(compare(add(a, c), add(b, c))).toBe(compare(a, b));
        if (b.numerator !== 0n) expect(multiply(divide(a, b), b)).toEqual(a);
      }),
      { numRuns: 1_000 },
    );
  });

  test("of many decimals is summed as adding them one by one does", () => {
    const decimals = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }));
    fc.assert(
      fc.property(decimals, (values) => {
        expect(sum(values)).toEqual(values.map((value) => rational(value)).reduce(add, rational(0n)));
      }),
    );
    expect(sum(["0.1", "0.2"])).toEqual(fraction(3n, 10n));
    expect(sum(["1e308", "-1e308"])).toEqual(fraction(0n, 1n));
  });

  test("rounds to the two whole numbers that enclose it", () => {
    fc.assert(
      fc.property(anyRational, (a) => {
        const [down, up] = [floor(a), ceil(a)];
        expect(compare(rational(down), a)).toBeLessThanOrEqual(0);
        expect(compare(a, rational(up))).toBeLessThanOrEqual(0);
        expect(up - down).toBe(a.denominator === 1n ? 0n : 1n);
      }),
      { numRuns: 1_000 },
    );
  });

  test("reads every double back as itself", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(decimalSum(value, 0)).toBe(value + 0);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a decimal sum", () => {
  test.each([
    [0.1, 0.2, 0.3],
    [0.8, -0.05, 0.75],
    [0.3, -0.1, 0.2],
    [1e300, 1e-300, 1e300],
    [0.1, -0.1, 0],
  ])("of %p and %p is %p", (a, b, sum) => {
    expect(decimalSum(a, b)).toBe(sum);
  });
});

describe("proportions", () => {
  test("are the numbers themselves where they are whole", () => {
    expect(proportions([3, 0, 7])).toEqual([3n, 0n, 7n]);
  });

  test("scale decimals by one power of ten", () => {
    expect(proportions([0.1, 0, 2.25, 1e21])).toEqual([10n, 0n, 225n, 10n ** 23n]);
  });

  test("hold from the least double to the greatest", () => {
    expect(proportions([5e-324, 1e308])).toEqual([5n, 10n ** 632n]);
  });

  test("of nothing are nothing", () => {
    expect(proportions([])).toEqual([]);
  });
});
