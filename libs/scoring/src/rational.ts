import { badNumber } from "./checks.ts";

/** An exact fraction in lowest terms; the denominator is above zero. Make one with {@link rational}. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * A decimal number as people write it: `3000`, `"0.1"`, `"1e3"`. A JavaScript number stands for the shortest decimal
 * that names it, so 0.1 is one tenth and not the double next to it.
 */
export type Decimal = number | string;

/** `digits · 10^exponent`. */
interface Scaled {
  readonly digits: bigint;
  readonly exponent: number;
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/** Enough for every double, written out in full; what is longer would only serve to exhaust memory. */
const LONGEST = 1_100;

/** The exact value. Throws EK_SCORING_BAD_NUMBER for what is no decimal number or has more than 1,100 places. */
export function rational(value: Decimal | bigint, what = "the number"): Rational {
  if (typeof value === "bigint") return { numerator: value, denominator: 1n };
  const { digits, exponent } = parse(value, what);
  return exponent >= 0
    ? { numerator: digits * 10n ** BigInt(exponent), denominator: 1n }
    : reduced(digits, 10n ** BigInt(-exponent));
}

export function add(a: Rational, b: Rational): Rational {
  return reduced(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
}

export function subtract(a: Rational, b: Rational): Rational {
  return reduced(a.numerator * b.denominator - b.numerator * a.denominator, a.denominator * b.denominator);
}

export function multiply(a: Rational, b: Rational): Rational {
  return reduced(a.numerator * b.numerator, a.denominator * b.denominator);
}

export function divide(a: Rational, b: Rational): Rational {
  if (b.numerator === 0n) throw badNumber(0, "the divisor", "other than 0");
  const sign = b.numerator < 0n ? -1n : 1n;
  return reduced(a.numerator * b.denominator * sign, a.denominator * b.numerator * sign);
}

/** Below zero if `a` is less, above zero if it is more, zero if they are equal. */
export function compare(a: Rational, b: Rational): -1 | 0 | 1 {
  const left = a.numerator * b.denominator;
  const right = b.numerator * a.denominator;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The greatest whole number that is not above `a`. */
export function floor({ numerator, denominator }: Rational): bigint {
  const towardsZero = numerator / denominator;
  return numerator < 0n && towardsZero * denominator !== numerator ? towardsZero - 1n : towardsZero;
}

/** The least whole number that is not below `a`. */
export function ceil({ numerator, denominator }: Rational): bigint {
  return -floor({ numerator: -numerator, denominator });
}

/** The exact sum. It is reduced once, which adding many fractions one by one does at every step. */
export function sum(values: readonly Decimal[]): Rational {
  const scaled = values.map((value) => parse(value, "the number"));
  const exponent = scaled.reduce((least, value) => Math.min(least, value.exponent), 0);
  const digits = scaled.reduce((total, value) => total + raise(value, exponent), 0n);
  return reduced(digits, 10n ** BigInt(-exponent));
}

/** The double nearest to the exact sum of two decimals: 0.3 for 0.1 and 0.2, where `+` gives 0.30000000000000004. */
export function decimalSum(a: number, b: number): number {
  const scaled = [parse(a, "the number"), parse(b, "the number")];
  const exponent = Math.min(...scaled.map((value) => value.exponent));
  const digits = scaled.reduce((sum, value) => sum + raise(value, exponent), 0n);
  return Number(`${String(digits)}e${exponent}`);
}

/** Whole numbers in exactly the proportions of `values`, and as small as a power of ten allows. */
export function proportions(values: readonly number[]): bigint[] {
  if (values.every((value) => Number.isSafeInteger(value))) return values.map((value) => BigInt(value));
  const scaled = values.map((value) => parse(value, "the number"));
  const exponent = scaled.reduce((least, value) => Math.min(least, value.digits === 0n ? least : value.exponent), 0);
  return scaled.map((value) => raise(value, exponent));
}

function raise({ digits, exponent }: Scaled, to: number): bigint {
  return digits === 0n ? 0n : digits * 10n ** BigInt(exponent - to);
}

function parse(value: Decimal, what: string): Scaled {
  const text = String(value);
  const match = text.length <= LONGEST ? DECIMAL.exec(text) : null;
  const [, sign = "", whole = "", fraction = "", power = "0"] = match ?? [];
  const exponent = Number(power) - fraction.length;
  if (whole + fraction === "" || Math.abs(exponent) > LONGEST) {
    throw badNumber(value, what, "a decimal number such as 3000, 0.1 or 1e3");
  }
  const digits = BigInt(whole + fraction);
  return { digits: sign === "-" ? -digits : digits, exponent };
}

function reduced(numerator: bigint, denominator: bigint): Rational {
  let [divisor, rest] = [numerator < 0n ? -numerator : numerator, denominator];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}
