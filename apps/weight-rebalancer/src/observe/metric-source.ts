import type { MetricReading } from "../decide/snapshot.ts";

/** Something that knows the metric. It never rejects: a metric that cannot be had is a reading that says why. */
export interface MetricSource {
  /** How a person would name it, such as `prometheus http://prometheus:9090`. Without credentials. */
  readonly name: string;
  read(signal: AbortSignal): Promise<MetricReading>;
}
