import { counter, gauge, histogram, oneOf, perObject, upTo } from "@evenkeel/metrics";

const rebalance = { name: perObject, namespace: perObject };

/** Every metric of weight-rebalancer. The first five are the original's, under its names. */
export const metrics = {
  error: gauge(
    "rebalancer_error",
    "1 if the last reconcile failed: no metric, or a target that cannot be read or written.",
    rebalance,
  ),
  available: gauge(
    "rebalancer_available",
    "1 if the actual weight is not the desired weight. The name is that of the original.",
    rebalance,
  ),
  healthy: gauge("rebalancer_healthy", "1 if the actual weight is the desired weight.", rebalance),
  desired: gauge("rebalancer_desired", "The weight that was last decided.", rebalance),
  actual: gauge("rebalancer_actual", "The weight that was last read from the target.", rebalance),
  metric: gauge("rebalancer_metric", "The metric that was last read; NaN while it is unknown.", rebalance),
  target: gauge("rebalancer_metric_target", "The target value of the metric.", rebalance),
  queries: histogram(
    "rebalancer_query_duration_seconds",
    "Duration of queries to metric servers.",
    { result: oneOf("ok", "fault") },
    [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
  ),
  route53Calls: counter("rebalancer_route53_calls_total", "Calls to Route 53, by zone and result.", {
    zone: upTo(100),
    action: oneOf("list", "change", "follow"),
    result: oneOf("ok", "throttled", "busy", "refused", "failed"),
  }),
};
