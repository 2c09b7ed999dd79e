const FORM = /^([+-]?)(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d{1,3})?$/;

const BINARY: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/**
 * A Kubernetes quantity, such as `250m`, `1.5Gi` or `2e3`, as the number nearest to it. NaN for text that is no
 * quantity, so that an unknown amount never counts as none.
 */
export function quantity(text: string | number): number {
  return scaled(text, 0);
}

/** A quantity as a whole number of `1/10^digits`, rounded up as Kubernetes does: `wholeUnits("1.5", 3)` is 1500. */
export function wholeUnits(text: string | number, digits: 0 | 3): number {
  const exact = scaled(text, digits);
  const near = Math.round(exact);
  // A decimal such as 0.1 has no exact double: what is a rounding error away from a whole number is that number.
  return Math.abs(exact - near) <= Math.abs(near) * 1e-15 ? near : Math.ceil(exact);
}

function scaled(text: string | number, digits: number): number {
  const [, sign, figures = "", suffix = ""] = FORM.exec(String(text)) ?? [];
  if (sign === undefined) return Number.NaN;
  const power = BINARY[suffix];
  const exponent = DECIMAL[suffix] ?? Number(/^[eE]/.test(suffix) ? suffix.slice(1) : 0);
  // The decimal exponent is left to the parser of numbers, which rounds once.
  const value = Number(`${sign}${figures}e${(power === undefined ? exponent : 0) + digits}`);
  return power === undefined ? value : value * 2 ** power;
}
