/**
 * Every reason for which a pod of a hot node stays where it is, with its sentence. The list is closed: the same codes
 * are in the plan, in metrics and in what people read.
 */
export const OBSTACLES = {
  // What the pod is, or what its owner and its namespace ask for.
  NotSelected: "the policy does not select its namespace or its labels",
  OtherPolicy: "another policy, which comes first by name, selects it too",
  Critical: "its priority is that of a system component",
  Mirror: "it is a static pod, which its node's kubelet runs",
  DaemonSet: "a DaemonSet runs it on this very node",
  Ownerless: "no controller would replace it",
  Job: "it belongs to a Job, and its work would be lost",
  Pinned: "it has the annotation rebalancer.dev/pinned",
  MoveForbidden: 'it has the annotation rebalancer.dev/allow-move: "false"',
  SafeToEvictFalse: 'it has the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "false"',
  DoNotDisrupt: "it has the annotation karpenter.sh/do-not-disrupt",
  ProtectedLabel: "a WorkloadSLO of its namespace protects one of its labels",
  StatefulSet: "no WorkloadSLO of its namespace allows the eviction of StatefulSet pods, or one forbids it",
  SingleReplica: "it is the only pod of its workload, and a WorkloadSLO of its namespace keeps such pods",
  HostPath: "it has a hostPath volume",
  LocalVolume: "it has a volume that exists on this node only",
  EmptyDir: "its emptyDir volumes may hold more than the limit",
  Unmodelled: "where it would land cannot be foreseen",
  // What it is doing now.
  Terminating: "it is terminating",
  Pending: "it is not running yet",
  NotReady: "it is not ready",
  Young: "it started less than two minutes ago, so its usage is not settled",
  MinReadySeconds: "it has not been ready for as long as its owner or a WorkloadSLO asks for",
  RolloutUnderWay: "its workload is being rolled out, or it is unknown whether it is",
  OtherRevision: "its replacement would have another template",
  UsageUnknown: "its usage is unknown, and so is that of its siblings",
  NodeUnknown: "its node is frozen, because its load is unknown",
  // Budgets.
  SeveralDisruptionBudgets: "several PodDisruptionBudgets match it, so the API server refuses every eviction",
  DisruptionBudgetStale: "its PodDisruptionBudget does not describe the present state yet",
  DisruptionBudget: "its PodDisruptionBudget allows no further disruption",
  HourlyLimit: "budget exhausted: a WorkloadSLO of its namespace allows no further disruption in this hour",
  NamespaceLimit: "the policy allows no further eviction in its namespace",
  MinuteLimit: "the policy allows no further eviction in this minute",
  OwnerInFlight: "another pod of its owner is being moved",
  NodeInFlight: "another pod of its node is being moved, or the usage of its node still contains one that was",
  BackOff: "its workload returned to this node after an eviction and is left alone for a while",
  ReplacementNotReady: "the replacement of a pod of its workload that was evicted an hour or more ago is not ready",
  Refused: "its eviction was refused not long ago, and it is left alone for a while",
  Budget: "the plan has as many evictions as it may have",
  // What moving it would bring.
  NoOtherNode: "no other node is feasible for it",
  OnlyByPreemption: "it would find room only by preempting other pods",
  ReturnsToSource: "the scheduler would probably place it on the same node again",
  LandingUnknown: "it would probably land on a node whose load is unknown",
  LandingTooHot: "it would probably make another node too hot",
  NoGain: "moving it would not make the nodes more level",
  TargetReached: "the target is reached without it",
  NodeNotHot: "the policy has no need to relieve its node",
} as const;

export type Obstacle = keyof typeof OBSTACLES;

export const OBSTACLE_CODES = Object.keys(OBSTACLES) as Obstacle[];

/**
 * Something that holds a pod, and the name of the object that asks for it where there is one, such as a
 * PodDisruptionBudget.
 */
export interface Hold {
  readonly code: Obstacle;
  readonly by: string | null;
}

const UNNAMED = Object.fromEntries(OBSTACLE_CODES.map((code) => [code, { code, by: null }])) as Record<Obstacle, Hold>;

export function hold(code: Obstacle, by: string | null = null): Hold {
  return by === null ? UNNAMED[code] : { code, by };
}
