import type { TargetReading } from "./snapshot.ts";

/** The share of the load, 0 to 1, of a target with `weight`; null if the weight is unknown or all weights are 0. */
export function shareOf({ weight, others }: Pick<TargetReading, "weight" | "others">): number | null {
  if (weight === null) return null;
  const sum = others.reduce((total, other) => total + other.weight, weight);
  return sum === 0 ? null : weight / sum;
}
