export {
  KIND as CLUSTER_SCORE,
  parseClusterScore,
  type ClusterScore,
  type ClusterScoreSpec,
  type ClusterScoreStatus,
} from "./cluster-score.ts";
export {
  KIND as COLLECTOR_LOAD_BALANCER,
  parseCollectorLoadBalancer,
  type CollectorLoadBalancer,
  type CollectorLoadBalancerSpec,
  type CollectorLoadBalancerStatus,
} from "./collector-load-balancer.ts";
export { durationMilliseconds } from "./duration.ts";
export {
  DEFAULT_COOLDOWN_SECONDS,
  KIND as ELASTI_SERVICE,
  parseElastiService,
  parsePrometheusTrigger,
  type ElastiService,
  type ElastiServiceStatus,
  type PrometheusTrigger,
} from "./elasti-service.ts";
export { UNKNOWN_TIME_ZONE } from "./field.ts";
export { type Kind, type KindNames, type PrinterColumn, type ScalePaths } from "./kind.ts";
export { kinds } from "./kinds.ts";
export {
  KIND as NODE_CLASS,
  parseNodeClass,
  type NodeClass,
  type NodeClassSpec,
  type NodeClassStatus,
} from "./node-class.ts";
export { type Parsed } from "./parse.ts";
export {
  KIND as REBALANCE_POLICY,
  parseRebalancePolicy,
  type RebalancePolicy,
  type RebalancePolicySpec,
  type RebalancePolicyStatus,
} from "./rebalance-policy.ts";
export { KIND as REBALANCE, parseRebalance, type Rebalance, type RebalanceStatus } from "./rebalance.ts";
export {
  KIND as WORKLOAD_SLO,
  parseWorkloadSLO,
  type WorkloadSLO,
  type WorkloadSLOSpec,
  type WorkloadSLOStatus,
} from "./workload-slo.ts";
