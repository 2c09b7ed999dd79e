export { apply, eventually, get, kubectl, type KubeObject, list } from "./kubectl-steps.ts";
export { type Exit, type Line, ServiceProcess, type ServiceProcessOptions } from "./service-process.ts";
export { START_TIMEOUT_MS, TEST_TIMEOUT_MS, useCluster } from "./use-cluster.ts";
export { configMap, deployment, disruptionBudget, type Pod } from "./workloads.ts";
