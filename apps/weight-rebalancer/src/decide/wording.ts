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
export function loadText({ metric, total, smoothed }: Load, { scope, targetValue, tolerance }: PolicySnapshot): string {
  const times = `${figure(divide(total, rational(targetValue)))} times the target ${targetValue}`;
  const band = tolerance === 0 ? "" : ` ± ${figure(rational(tolerance * 100))} %`;
  const average = smoothed ? ", smoothed," : "";
  if (scope === "total") {
    return smoothed
      ? `Metric ${figure(metric)}, smoothed to ${figure(total)}, is ${times}${band}`
      : `Metric ${figure(metric)} is ${times}${band}`;
  }
  return `Metric ${figure(metric)} of the base means a total${average} of ${figure(total)}, ${times}${band}`;
}
