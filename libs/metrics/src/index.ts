export { counter, gauge, histogram, oneOf, perObject, upTo } from "./declare.ts";
export type { ClosedLabel, Declaration, Label, Labels, LabelValues, MetricTable } from "./declare.ts";
export { MetricRegistry } from "./registry.ts";
export type { CounterHandle, GaugeHandle, HistogramHandle, Metrics } from "./registry.ts";
