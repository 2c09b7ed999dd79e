export { Authority, type Certificate, type ClientSubject } from "./access/authority.ts";
export type { Caller, User } from "./access/users.ts";
export {
  ApiServer,
  type ApiServerOptions,
  type AuditEntry,
  controlPlane,
  type Faults,
  startApiServer,
} from "./api-server.ts";
export type { Behaviour, World } from "./behaviours/behaviour.ts";
export { type Fault, FaultPlan, type FaultRule } from "./fault-plan.ts";
export { ACCESS_KEY_AUTH, accessKeySecret } from "./route53/access-key.ts";
export type { ChangeAction } from "./route53/change.ts";
export type { AliasTarget, RecordSet } from "./route53/record-set.ts";
export { Route53Client } from "./route53/route53-client.ts";
export { type JournalEntry, Route53, type Route53Options, startRoute53 } from "./route53/route53.ts";
export { kubelet, type KubeletOptions } from "./behaviours/nodes/kubelet.ts";
export { type PodProgram, podPrograms, type RunningPod } from "./behaviours/nodes/pod-programs.ts";
export { scheduling } from "./behaviours/nodes/scheduling.ts";
export { type NodeCapacity, simNode } from "./behaviours/nodes/sim-node.ts";
export {
  type DataPlane,
  dataPlane,
  type DataPlaneOptions,
  type Front,
  type Listener,
} from "./behaviours/traffic/data-plane.ts";
export type { Target } from "./behaviours/traffic/targets.ts";
export { workloads } from "./behaviours/workloads.ts";
export { deployments } from "./behaviours/workloads/deployments.ts";
export { replicaSets } from "./behaviours/workloads/replica-sets.ts";
export { Prometheus, type PrometheusAuth, type PrometheusOptions, startPrometheus } from "./prometheus/prometheus.ts";
export type { QueryAnswer } from "./prometheus/query-answer.ts";
export type { Labels, Sample, Series } from "./prometheus/series.ts";
export type { CommandStreams, PodStreams, PodTarget } from "./streams/pod-streams.ts";
