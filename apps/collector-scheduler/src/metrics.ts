import { histogram, oneOf } from "@evenkeel/metrics";

/** Every metric of collector-scheduler. Those of the OpenTelemetry target allocator that mean the same have its names. */
export const metrics = {
  requestSeconds: histogram(
    "opentelemetry_allocator_http_duration_seconds",
    "Time to answer a request of a collector.",
    { path: oneOf("scrape_configs", "jobs", "targets", "other") },
    [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
  ),
};
