import { defineError } from "@evenkeel/runtime";

// Input.

export const BadFile = defineError({
  code: "EK_PLANNER_BAD_FILE",
  recovery: "terminal",
  message: "cannot use {file}, byte {byte}: {fault}",
  remedy: "Write the file again with `kubectl get … -A -o json` or `kubectl evenkeel plan --save`.",
});

export const BadPolicy = defineError({
  code: "EK_PLANNER_BAD_POLICY",
  recovery: "terminal",
  message: "cannot use the policy in {file}: {fault}",
  remedy: "The file needs one RebalancePolicy (rebalancer.dev/v1). docs/reference/crds.md lists its fields.",
});

export const UnusableUsage = defineError({
  code: "EK_PLANNER_UNUSABLE_USAGE",
  recovery: "retryable",
  message: "usage from {source} is not usable: {fault}",
  remedy: "Check that metrics-server runs, or the queries of --prometheus-node-cpu-query and its siblings.",
});

export const PlanFailed = defineError({
  code: "EK_PLANNER_PLAN_FAILED",
  recovery: "retryable",
  message: "no plan was made: {fault}",
  remedy: "This is a defect. Report it with the file that `kubectl evenkeel plan --save` writes.",
});

export const NotListed = defineError({
  code: "EK_PLANNER_NOT_LISTED",
  recovery: "retryable",
  message: "no plan was made: the API server did not list {kinds} within {seconds} s",
  remedy:
    "Grant list and watch on them to the ServiceAccount of eviction-planner, as its chart does. The log has the error of " +
    "each list. A plan without them could evict what must stay.",
});

// Answers.

export const NoPlanYet = defineError({
  code: "EK_PLANNER_NO_PLAN_YET",
  recovery: "retryable",
  message: "this replica has no plan to show",
  remedy:
    "Wait for the first plan, or ask the replica that leads. A policy must exist, and the load of nodes be known.",
});
