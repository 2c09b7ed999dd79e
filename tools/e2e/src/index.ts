export { type Cluster, nodeManifest, type NodeShape, waitUntil } from "@evenkeel/control-plane";
export { accountKubeconfig, tokenOf } from "./account.ts";
export { type ChartAccount, chartAccount, type ChartInstall } from "./chart-account.ts";
export { type ClusterProxy, clusterProxy } from "./cluster-proxy.ts";
export { helmEnvironment, helmOutput, type HelmResult, pinnedHelm, runHelm } from "./helm.ts";
export { apply, applyDefinitions, get, kubectl, type KubeObject, list } from "./kubectl-steps.ts";
export { ServicePod, type ServicePodOptions } from "./service-pod.ts";
export { START_TIMEOUT_MS, TEST_TIMEOUT_MS, useCluster } from "./use-cluster.ts";
export { type Clusters, useClusters } from "./use-clusters.ts";
export {
  type Request,
  requestsBy,
  rightsOf,
  type Role,
  type Rule,
  type UsedRights,
  usedRights,
} from "./used-rights.ts";
export { watchObjects } from "./watch-objects.ts";
export { configMap, deployment, disruptionBudget, type Pod } from "./workloads.ts";
