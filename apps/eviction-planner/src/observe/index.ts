export {
  type ClusterObjects,
  type ObservedKind,
  type ObservedTypes,
  observedTypes,
} from "./cluster/cluster-objects.ts";
export { CollectedObjects } from "./cluster/collected-objects.ts";
export { listCluster } from "./cluster/list-cluster.ts";
export { defaultPolicy } from "./default-policy.ts";
export { withHashedNames } from "./files/hashed-names.ts";
export { type FileContents, readFiles } from "./files/read-files.ts";
export { type SavedSnapshot, snapshotText } from "./files/saved-snapshot.ts";
export { snapshotOf, type SnapshotOptions } from "./snapshot/snapshot-of.ts";
export { metricsApi } from "./usage/metrics-api.ts";
export { prometheusUsage, type PrometheusUsageOptions, type UsageQueries } from "./usage/prometheus-usage.ts";
export { NO_USAGE, type Usage, type UsageSource } from "./usage/usage.ts";
export { usageQueries, usageSettings } from "./usage/usage-settings.ts";
export { answerPlan, planInWorker } from "./worker/plan-in-worker.ts";
