import {
  compareDecimals,
  decimalText,
  divideDecimal,
  parseDecimal,
  type ScaledDecimal,
  sumDecimals,
} from "./decimal.ts";

export type Reducer = "max" | "min" | "avg" | "sum";

/** Decimals, at least one, as texts and as the same numbers. */
export interface Numbers {
  readonly texts: readonly string[];
  readonly values: readonly ScaledDecimal[];
}

/**
 * Makes one number of several, exactly; a mean that does not end is cut off below. Nothing if the result is beyond what a double
 * holds.
 */
export function reduce(reducer: Reducer, { texts, values }: Numbers): string | undefined {
  switch (reducer) {
    case "max":
      return texts[bestOf(values, (comparison) => comparison > 0)];
    case "min":
      return texts[bestOf(values, (comparison) => comparison < 0)];
    case "sum":
      return holdable(sumDecimals(values));
    case "avg":
      return holdable(divideDecimal(sumDecimals(values), values.length));
  }
}

function bestOf(values: readonly ScaledDecimal[], isBetter: (comparison: number) => boolean): number {
  return values.reduce((best, value, index) => {
    const present = values[best];
    return present !== undefined && isBetter(compareDecimals(value, present)) ? index : best;
  }, 0);
}

function holdable(value: ScaledDecimal): string | undefined {
  const text = decimalText(value);
  return parseDecimal(text) && text;
}
