import { describe, expect, test } from "@jest/globals";
import { add, compare, divide, rational } from "@evenkeel/scoring";
import fc from "fast-check";
import { type ExactNumber, exactNumber, reduce, type Reducer } from "./reduce.ts";

const number = (text: string): ExactNumber => {
  const read = exactNumber(text);
  if (read === undefined) throw new Error(`${text} is no decimal`);
  return read;
};

const reduced = (reducer: Reducer, ...texts: string[]): string | undefined => reduce(reducer, texts.map(number));

describe("a number", () => {
  test.each(["", "NaN", "+Inf", "Infinity", "0x10", "1_000", "1,5", "12 apples", "1e", ".", "1e400", "1e-2000", "--1"])(
    "is not read from %j",
    (text) => {
      expect(exactNumber(text)).toBeUndefined();
    },
  );

  test("is not read from more digits than any double has", () => {
    expect(exactNumber("9".repeat(2000))).toBeUndefined();
  });
});

describe("the sum", () => {
  test.each([
    [["3000"], "3000"],
    [["3000.5"], "3000.5"],
    [["1e+03"], "1000"],
    [["0.1", "0.2"], "0.3"],
    [["0.30000000000000004"], "0.30000000000000004"],
    [["-2"], "-2"],
    [["-0"], "0"],
    [["1e308", "-1e308"], "0"],
    [["-0.000120"], "-0.00012"],
  ])("of %j is written as %s", (texts, written) => {
    expect(reduced("sum", ...texts)).toBe(written);
  });

  test("is exact, whichever doubles it is of", () => {
    const doubles = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1 });
    fc.assert(
      fc.property(doubles, (values) => {
        const exact = values.map((value) => rational(value)).reduce(add);
        expect(rational(reduced("sum", ...values.map(String)) ?? "")).toEqual(exact);
      }),
    );
  });

  test("of one number is that number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(rational(reduced("sum", String(value)) ?? "")).toEqual(rational(value));
      }),
    );
  });

  test("beyond the greatest double is none", () => {
    expect(reduced("sum", "1.7e308", "1.7e308")).toBeUndefined();
  });
});

describe("the greatest and the least", () => {
  test.each([
    ["1", "2", "2"],
    ["2", "1e0", "2"],
    ["-1", "0", "0"],
    ["1e308", "1e-308", "1e308"],
    ["1000", "1e+03", "1000"],
    ["0.1", "0.10", "0.1"],
  ])("of %s and %s: the greatest is %s, and the first of equals", (a, b, greatest) => {
    expect(reduced("max", a, b)).toBe(greatest);
    expect(reduced("min", `-${a}`.replace("--", ""), `-${b}`.replace("--", ""))).toBe(`-${greatest}`.replace("--", ""));
  });
});

describe("the mean", () => {
  test.each([
    [["1", "2"], "1.5"],
    [["0", "0", "0"], "0"],
    [["3000", "3000"], "3000"],
    [["1", "2", "3", "0.25"], "1.5625"],
  ])("of %j is exactly %s", (texts, mean) => {
    expect(reduced("avg", ...texts)).toBe(mean);
  });

  test.each([
    ["1", `${"3".repeat(60)}e-60`],
    ["-1", `-${"3".repeat(59)}4e-60`],
  ])("of %s and two zeros does not end and is cut off below", (text, mean) => {
    expect(rational(reduced("avg", text, "0", "0") ?? "")).toEqual(rational(mean));
  });

  test("is never above the exact one, and within 50 digits of it", () => {
    const doubles = fc.array(fc.double({ noNaN: true, min: 1e-9, max: 1e9 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(doubles, (values) => {
        const exact = divide(values.map((value) => rational(value)).reduce(add), rational(BigInt(values.length)));
        const mean = rational(reduced("avg", ...values.map(String)) ?? "");
        expect(compare(mean, exact)).toBeLessThanOrEqual(0);
        const least = { numerator: exact.numerator * (10n ** 50n - 1n), denominator: exact.denominator * 10n ** 50n };
        expect(compare(mean, least)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
