import { counter, gauge, histogram, oneOf, perObject, upTo } from "@evenkeel/metrics";

const rebalance = { name: perObject, namespace: perObject };

/** Every metric of weight-rebalancer. The first five are the original's, under its names. */
export const metrics = {
  error: gauge(
    "rebalancer_error",
    "1 if the last turn failed: no metric, or a target that cannot be read or written.",
    rebalance,
  ),
  available: gauge(
    "rebalancer_available",
    "1 if the actual weight is not the desired one, as the original has it.",
    rebalance,
  ),
  healthy: gauge("rebalancer_healthy", "1 if the actual weight is the desired one.", rebalance),
  desired: gauge("rebalancer_desired", "The weight last decided.", rebalance),
  actual: gauge("rebalancer_actual", "The weight last read from the target.", rebalance),
  metric: gauge("rebalancer_metric", "The metric as last read; absent while it is unknown.", rebalance),
  target: gauge("rebalancer_metric_target", "What the metric is kept at or below.", rebalance),
  queries: histogram(
    "rebalancer_query_duration_seconds",
    "How long metric servers took to answer.",
    { result: oneOf("ok", "fault") },
    [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
  ),
  route53Calls: counter("rebalancer_route53_calls_total", "Calls to Route 53, by zone and result.", {
    zone: upTo(100),
    action: oneOf("list", "change", "follow"),
    result: oneOf("ok", "throttled", "busy", "refused", "failed"),
  }),
};
