import { divide, type Rational, rational } from "@evenkeel/scoring";
import { type Load, nearest } from "./load.ts";
import type { PolicySnapshot } from "./snapshot.ts";

/** A number for a message: at most six digits. */
export function figure(value: Rational): string {
  return String(Number(nearest(value).toPrecision(6)));
}

/** A duration for a message. */
export function seconds(milliseconds: number): string {
  return `${Number((milliseconds / 1000).toPrecision(6))} s`;
}

/** The first clause of a message: the load compared with its target. */
export function loadText({ metric, total, smoothed }: Load, { scope, targetValue }: PolicySnapshot): string {
  const times = `${figure(divide(total, rational(targetValue)))} times the target ${targetValue}`;
  const average = smoothed ? ", smoothed," : "";
  if (scope === "total") {
    return smoothed
      ? `Metric ${figure(metric)}, smoothed to ${figure(total)}, is ${times}`
      : `Metric ${figure(metric)} is ${times}`;
  }
  return `Metric ${figure(metric)} of the base means a total${average} of ${figure(total)}, ${times}`;
}

/** The clause that says why a weight is near enough: `borne` is the load of the base, the number that is compared. */
export function toleranceText(borne: Rational, { targetValue, tolerance }: PolicySnapshot): string {
  const band = figure(rational(tolerance * 100));
  return `the base gets ${figure(borne)} of it, within ${band} % of the target ${targetValue}`;
}
