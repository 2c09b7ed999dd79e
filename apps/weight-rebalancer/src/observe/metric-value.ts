import { nearest } from "../decide/load.ts";
import { combineMetrics } from "../decide/metric.ts";
import type { WeightSnapshot } from "../decide/snapshot.ts";

/** The metric as people see it, before scaling and smoothing; null while it is unknown. */
export function metricOf({ metrics, combine }: Pick<WeightSnapshot, "metrics" | "combine">): number | null {
  const combined = combineMetrics(metrics, combine);
  return combined.fault === null ? nearest(combined.value) : null;
}
