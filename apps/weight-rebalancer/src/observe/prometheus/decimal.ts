import { rational } from "@evenkeel/scoring";

/** `digits · 10^exponent`, exact. */
export interface ScaledDecimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/** Digits of a quotient that does not end: far more than a double has. */
const QUOTIENT_DIGITS = 60;

/** Reads what is a decimal number for decisions too and lies in the range of doubles; nothing otherwise. */
export function parseDecimal(text: string): ScaledDecimal | undefined {
  if (!Number.isFinite(Number(text))) return undefined;
  try {
    rational(text);
  } catch {
    return undefined;
  }
  const [, sign = "", whole = "", fraction = "", power = "0"] = DECIMAL.exec(text) ?? [];
  const digits = BigInt(whole + fraction);
  return { digits: sign === "-" ? -digits : digits, exponent: Number(power) - fraction.length };
}

export function compareDecimals(a: ScaledDecimal, b: ScaledDecimal): number {
  const [left = 0n, right = 0n] = aligned([a, b]).digits;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The exact sum. */
export function sumDecimals(values: readonly ScaledDecimal[]): ScaledDecimal {
  const { digits, exponent } = aligned(values);
  return { digits: digits.reduce((sum, value) => sum + value, 0n), exponent };
}

/**
 * The quotient, exact where it ends within 60 digits and else cut off below, never rounded up: a weight is rounded up from it,
 * and must not gain one from the rounding here.
 */
export function divideDecimal({ digits, exponent }: ScaledDecimal, by: number): ScaledDecimal {
  const places = String(digits < 0n ? -digits : digits).length;
  const more = Math.max(0, QUOTIENT_DIGITS - places) + String(by).length;
  const raised = digits * 10n ** BigInt(more);
  const towardsZero = raised / BigInt(by);
  const isBelow = raised < 0n && towardsZero * BigInt(by) !== raised;
  return { digits: isBelow ? towardsZero - 1n : towardsZero, exponent: exponent - more };
}

/** Such as `3000.5`; with an exponent where the digits alone would be long. */
export function decimalText({ digits, exponent }: ScaledDecimal): string {
  if (digits === 0n) return "0";
  const [, bare = "", zeros = ""] = /^(\d*?)(0*)$/.exec(String(digits < 0n ? -digits : digits)) ?? [];
  const sign = digits < 0n ? "-" : "";
  const power = exponent + zeros.length;
  if (power >= 0 && bare.length + power <= 21) return sign + bare + "0".repeat(power);
  const point = bare.length + power;
  if (power < 0 && point > 0) return `${sign}${bare.slice(0, point)}.${bare.slice(point)}`;
  if (power < 0 && point > -6) return `${sign}0.${"0".repeat(-point)}${bare}`;
  return `${sign}${bare}e${power}`;
}

function aligned(values: readonly ScaledDecimal[]): { readonly digits: readonly bigint[]; readonly exponent: number } {
  const exponent = values.reduce((least, value) => (value.digits === 0n ? least : Math.min(least, value.exponent)), 0);
  const powers = new Map<number, bigint>();
  const digits = values.map((value) => {
    if (value.digits === 0n) return 0n;
    const by = value.exponent - exponent;
    let power = powers.get(by);
    if (power === undefined) powers.set(by, (power = 10n ** BigInt(by)));
    return value.digits * power;
  });
  return { digits, exponent };
}
