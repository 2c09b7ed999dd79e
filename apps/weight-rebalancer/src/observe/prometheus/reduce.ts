import { compare, divide, floor, multiply, type Rational, rational, sum } from "@evenkeel/scoring";

export type Reducer = "max" | "min" | "avg" | "sum";

/** A decimal as the server wrote it, and its value. */
export interface ExactNumber {
  readonly text: string;
  readonly value: Rational;
}

/** Digits of a mean that does not end: far more than a double has. */
const DIGITS = 60;

/** Reads a decimal in the range of doubles; undefined for anything else. */
export function exactNumber(text: string): ExactNumber | undefined {
  if (!Number.isFinite(Number(text))) return undefined;
  try {
    return { text, value: rational(text) };
  } catch {
    return undefined;
  }
}

/** One decimal from at least one, exact where it ends. Undefined if no double holds it. */
export function reduce(reducer: Reducer, numbers: readonly ExactNumber[]): string | undefined {
  const total = () => sum(numbers.map(({ text }) => text));
  switch (reducer) {
    case "max":
      return numbers.reduce((most, next) => (compare(next.value, most.value) > 0 ? next : most)).text;
    case "min":
      return numbers.reduce((least, next) => (compare(next.value, least.value) < 0 ? next : least)).text;
    case "sum":
      return decimalText(total());
    case "avg":
      return decimalText(divide(total(), rational(BigInt(numbers.length))));
  }
}

/**
 * The value as a decimal. One that does not end is cut off below and never rounded up: the weight is rounded up from
 * it, and must not gain one here.
 */
function decimalText(value: Rational): string | undefined {
  const { numerator, denominator } = value;
  // A decimal that ends has at most as many places as its denominator has bits.
  const most = denominator.toString(2).length;
  const ends = shifted(value, most).denominator === 1n;
  const places = ends ? most : DIGITS + String(denominator).length - String(numerator).replace("-", "").length;
  const [, digits = "", zeros = ""] = /^(-?\d+?)(0*)$/.exec(String(floor(shifted(value, places)))) ?? [];
  const text = `${digits}e${zeros.length - places}`;
  const exact = exactNumber(text);
  if (exact === undefined) return undefined;
  // Most are the decimal that names a double, which reads better.
  const double = Number(text);
  return compare(rational(double), exact.value) === 0 ? String(double) : text;
}

/** The value times a power of ten. */
function shifted(value: Rational, places: number): Rational {
  const power = rational(10n ** BigInt(Math.abs(places)));
  return places < 0 ? divide(value, power) : multiply(value, power);
}
