import { add, compare, divide, type Rational, rational } from "@evenkeel/scoring";
import type { MetricFault, MetricReading } from "./snapshot.ts";

/** Why there is no number. */
export interface NoMetric {
  readonly value: null;
  readonly fault: MetricFault;
  /** A clause that names the source and its fault. */
  readonly message: string;
}

/** The combined metric: one exact number, or the reason why there is none. */
export type CombinedMetric = { readonly value: Rational; readonly fault: null } | NoMetric;

/**
 * Combines the values of the sources. If one source has no value, the result has none: the maximum or the mean of the
 * rest would be a wrong number.
 */
export function combineMetrics(metrics: readonly MetricReading[], how: "max" | "min" | "avg"): CombinedMetric {
  const values: Rational[] = [];
  for (const reading of metrics) {
    if (reading.fault !== null) {
      return { value: null, fault: reading.fault, message: `${reading.source} has no value: ${reading.message}` };
    }
    const value = exactly(reading.value);
    if (value === undefined) {
      const message = `${reading.source} has no value: its answer is not a finite number`;
      return { value: null, fault: "NotANumber", message };
    }
    values.push(value);
  }
  const [first, ...rest] = values;
  if (!first) return { value: null, fault: "NoData", message: "No metric source is configured" };
  return { value: combined(first, rest, how), fault: null };
}

function combined(first: Rational, rest: readonly Rational[], how: "max" | "min" | "avg"): Rational {
  switch (how) {
    case "max":
      return rest.reduce((most, value) => (compare(value, most) > 0 ? value : most), first);
    case "min":
      return rest.reduce((least, value) => (compare(value, least) < 0 ? value : least), first);
    case "avg":
      return divide(rest.reduce(add, first), rational(BigInt(rest.length + 1)));
  }
}

/** Longest number, in characters, that is read exactly. Every double is shorter. */
const LONGEST = 400;

/** The number that a server wrote. A longer number than any double is read as the nearest double. */
function exactly(text: string): Rational | undefined {
  const double = Number(text);
  if (!Number.isFinite(double) || !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text)) return undefined;
  const short = text.length <= LONGEST && Math.abs(Number(/e(.*)$/i.exec(text)?.[1] ?? 0)) <= LONGEST;
  return rational(short ? text : double);
}
