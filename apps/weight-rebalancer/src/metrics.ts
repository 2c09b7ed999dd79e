import { counter, gauge, histogram, oneOf, perObject, upTo } from "@evenkeel/metrics";

/** A gauge of each Rebalance. A former leader no longer exports it. */
const ofRebalance = (name: string, help: string) =>
  gauge(name, help, { name: perObject, namespace: perObject }, { leaderOnly: true });

/** Every metric of weight-rebalancer. The first five have the names of the original. */
export const metrics = {
  error: ofRebalance(
    "rebalancer_error",
    "1 if the last reconcile failed: no metric, or a target that cannot be read or written.",
  ),
  available: ofRebalance("rebalancer_available", "1 if the actual weight is not the desired weight."),
  healthy: ofRebalance("rebalancer_healthy", "1 if the actual weight is the desired weight."),
  desired: ofRebalance("rebalancer_desired", "The weight that was last decided."),
  actual: ofRebalance("rebalancer_actual", "The weight that was last read from the target."),
  metric: ofRebalance("rebalancer_metric", "The metric that was last read; absent while it is unknown."),
  target: ofRebalance("rebalancer_metric_target", "The target value of the metric."),
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
