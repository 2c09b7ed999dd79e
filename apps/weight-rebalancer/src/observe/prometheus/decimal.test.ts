import { describe, expect, test } from "@jest/globals";
import { add, rational } from "@evenkeel/scoring";
import fc from "fast-check";
import {
  compareDecimals,
  decimalText,
  divideDecimal,
  parseDecimal,
  type ScaledDecimal,
  sumDecimals,
} from "./decimal.ts";

const decimal = (text: string): ScaledDecimal => {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`${text} is no decimal`);
  return parsed;
};

describe("a decimal", () => {
  test.each([
    ["3000", "3000"],
    ["3000.5", "3000.5"],
    ["1e+03", "1000"],
    ["1.5e-7", "15e-8"],
    ["0.30000000000000004", "0.30000000000000004"],
    ["-2", "-2"],
    ["-0", "0"],
    ["0", "0"],
    ["1e21", "1e21"],
    ["-0.000120", "-0.00012"],
    ["1.7976931348623157e+308", "17976931348623157e292"],
  ])("%s is written as %s", (text, written) => {
    expect(decimalText(decimal(text))).toBe(written);
  });

  test.each([
    "",
    "NaN",
    "+Inf",
    "Infinity",
    "0x10",
    "1_000",
    "1,5",
    "12 apples",
    "1e",
    ".",
    "1e400",
    "1e-2000",
    "--1",
    "9".repeat(2000),
  ])("is not read from %j", (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });

  test("keeps its value through its text, whichever double it was", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) => {
        const text = decimalText(decimal(String(double)));
        expect(rational(text)).toEqual(rational(String(double)));
      }),
    );
  });

  test("is summed as exactly as fractions are", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1 }), (doubles) => {
        const exact = doubles.map((double) => rational(String(double))).reduce(add);
        const sum = decimalText(sumDecimals(doubles.map((double) => decimal(String(double)))));
        expect(rational(sum)).toEqual(exact);
      }),
    );
  });

  test.each([
    ["1", "2", -1],
    ["2", "1e0", 1],
    ["1000", "1e+03", 0],
    ["-1", "0", -1],
    ["0.1", "0.10", 0],
    ["1e308", "1e-308", 1],
  ])("%s against %s compares as %d", (a, b, order) => {
    expect(compareDecimals(decimal(a), decimal(b))).toBe(order);
  });

  test.each([
    ["3", 2, "1.5"],
    ["0", 7, "0"],
    ["1", 3, `0.${"3".repeat(60)}`],
    ["-1", 3, `-0.${"3".repeat(59)}4`],
    ["6000", 2, "3000"],
    ["100", 64, "1.5625"],
  ])("%s divided by %d is %s, never above the quotient", (text, by, quotient) => {
    expect(decimalText(divideDecimal(decimal(text), by))).toBe(quotient);
  });
});
