import { counter, gauge, histogram, oneOf, perObject, upTo } from "@evenkeel/metrics";
import { OBSTACLE_CODES } from "./decide/obstacles.ts";

/** A gauge of each RebalancePolicy. A former leader no longer exports it. */
const ofPolicy = (name: string, help: string) => gauge(name, help, { name: perObject }, { leaderOnly: true });

/** Every metric of eviction-planner. The first five have the names of the original. */
export const metrics = {
  nodeUtilization: gauge(
    "rebalancer_node_utilization",
    "Share of a node's CPU and memory that is used, or requested where the policy's basis is requests.",
    { node: perObject, resource: oneOf("cpu", "memory") },
    { leaderOnly: true },
  ),
  sigma: ofPolicy("rebalancer_sigma", "Standard deviation of node utilisation, of the nodes whose load is known."),
  evictions: counter("rebalancer_evictions_total", "Pods that were evicted.", {
    namespace: upTo(1000),
    reason: oneOf("HotNode", "AboveMean"),
  }),
  dryRunEvictions: counter(
    "rebalancer_dry_run_evictions_total",
    "Pods that a dry run planned to evict, each counted once while it stays in the plan.",
    {},
  ),
  budgetRemaining: gauge(
    "rebalancer_budget_remaining",
    "Disruptions that the WorkloadSLOs of a namespace still allow in this hour; -1 if they set no limit.",
    { namespace: perObject },
    { leaderOnly: true },
  ),
  variance: ofPolicy("rebalancer_variance", "Variance of node utilisation: the square of rebalancer_sigma."),
  sigmaPredicted: ofPolicy("rebalancer_sigma_predicted", "Standard deviation that is expected after the plan."),
  sigmaLowerBound: ofPolicy(
    "rebalancer_sigma_lower_bound",
    "No choice of as many evictions brings the standard deviation below this.",
  ),
  ready: ofPolicy("rebalancer_ready", "1 if the last reconcile made a plan, 0 if the policy could not be followed."),
  hotNodes: ofPolicy("rebalancer_hot_nodes", "Nodes that are hot by the thresholds of the policy."),
  planned: ofPolicy("rebalancer_planned_evictions", "Evictions in the last plan."),
  blocked: gauge(
    "rebalancer_blocked_pods",
    "Pods of hot nodes that stay, by reason.",
    { name: perObject, reason: oneOf(...OBSTACLE_CODES) },
    { leaderOnly: true },
  ),
  planSeconds: histogram(
    "rebalancer_plan_seconds",
    "Time to make a plan, from reading the cluster to the answer.",
    {},
    [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30],
  ),
  returned: counter(
    "rebalancer_returned_to_source_total",
    "Evictions whose replacement came back to the same node.",
    {},
  ),
  landings: counter(
    "rebalancer_landings_total",
    "Replacements that are ready, by the rank of their node in the forecast.",
    {
      rank: oneOf("1", "2", "3", "later", "unforeseen"),
    },
  ),
  metricsAge: gauge("rebalancer_metrics_age_seconds", "Age of the newest usage of a node.", {}, { leaderOnly: true }),
};
