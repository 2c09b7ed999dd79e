import type { NodeClassSpec, RebalancePolicySpec, WorkloadSLOSpec } from "@evenkeel/api";
import type { Labels, LabelSelector, NodeFacts, PodShape } from "@evenkeel/placement";
import type { BandState } from "@evenkeel/scoring";

/**
 * Everything that a plan depends on, as plain JSON. Big tables are columns, and rows name each other by index, so that
 * a cluster of 150,000 pods stays small. Columns may be typed arrays in memory.
 */
export interface PlanSnapshot {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly policy: { readonly name: string; readonly spec: RebalancePolicySpec };
  /** Policies whose names come first: the pods that they select belong to them. Absent: none. */
  readonly earlier?: readonly Selecting[];
  readonly cluster: ClusterSnapshot;
  /**
   * What earlier plans left behind. Null for a question that nobody carries out: one sample is then enough for a node
   * to be hot, and the limits on evictions at a time (each minute, owner and node) do not apply.
   */
  readonly memory: PlanMemory | null;
  /** The most evictions that the plan may have. */
  readonly budget: number;
  /** Pods whose emptyDir volumes may hold more bytes than this are not moved. */
  readonly emptyDirLimit: number;
}

/** What a policy selects. */
export interface Selecting {
  readonly name: string;
  readonly spec: Pick<RebalancePolicySpec, "namespaces" | "workloadSelectors">;
}

/** A number that was not observed. It is never treated as zero. */
export const UNKNOWN = -1;
/** The index of an owner or node that is not there. */
export const NONE = -1;

export interface ClusterSnapshot {
  /** Labels by namespace. */
  readonly namespaces: Readonly<Record<string, Labels>>;
  readonly nodes: readonly NodeRow[];
  readonly shapes: readonly PodShape[];
  readonly owners: readonly OwnerRow[];
  readonly pods: PodColumns;
  readonly disruptionBudgets: readonly DisruptionBudgetRow[];
  readonly slos: readonly { readonly namespace: string; readonly name: string; readonly spec: WorkloadSLOSpec }[];
  readonly nodeClasses: readonly { readonly name: string; readonly spec: NodeClassSpec }[];
}

export interface NodeRow extends NodeFacts {
  /** Condition Ready is True and the node is not being deleted or drained by an autoscaler. */
  readonly available: boolean;
  /** Milli-CPU and bytes; null where there is no current sample. */
  readonly usage: { readonly cpu: number; readonly memory: number } | null;
  /** When the window of `usage` began, in milliseconds since the epoch. Absent: unknown. */
  readonly measuredSince?: number;
}

/** The controller of pods: a ReplicaSet, StatefulSet, ReplicationController, DaemonSet, Job or anything else. */
export interface OwnerRow {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The name that people know: the Deployment of a ReplicaSet, else the owner itself. */
  readonly workload: { readonly kind: string; readonly name: string; readonly uid: string };
  /** Wanted replicas; null if unknown. */
  readonly replicas: number | null;
  readonly rollout: "steady" | "underWay" | "paused" | "unknown";
  readonly minReadySeconds: number;
  /** Restarting its rollout makes the new pod ready before the old one ends, and the service may do that. */
  readonly canSurge?: boolean;
}

export interface DisruptionBudgetRow {
  readonly namespace: string;
  readonly name: string;
  /** Null matches no pod, {} every pod of the namespace. */
  readonly selector: LabelSelector | null;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly alwaysAllowUnhealthy: boolean;
  /** False while its controller has not seen the present generation, or could not sync it. */
  readonly isCurrent: boolean;
}

/** A row a pod; all columns have the same length. */
export interface PodColumns {
  readonly uid: readonly string[];
  readonly name: readonly string[];
  /** Index into `shapes`; the shape has namespace and labels. */
  readonly shape: ArrayLike<number>;
  /** Index into `nodes`, or NONE while pending. */
  readonly node: ArrayLike<number>;
  /** Index into `owners`, or NONE. */
  readonly owner: ArrayLike<number>;
  readonly priority: ArrayLike<number>;
  /** controller.kubernetes.io/pod-deletion-cost. */
  readonly deletionCost: ArrayLike<number>;
  /** Milliseconds since the epoch; UNKNOWN where it has not started. */
  readonly startedAt: ArrayLike<number>;
  /** When it became Ready; UNKNOWN where it is not. */
  readonly readySince: ArrayLike<number>;
  /** Milli-CPU over its window; UNKNOWN without a current sample. */
  readonly cpuUsage: ArrayLike<number>;
  /** Bytes; UNKNOWN without a current sample. */
  readonly memoryUsage: ArrayLike<number>;
  /** Bytes that emptyDir volumes may hold: the sum of limits, or UNKNOWN where one has none. */
  readonly emptyDirBytes: ArrayLike<number>;
  /** Sum of {@link POD} bits. */
  readonly flags: ArrayLike<number>;
  /** The annotation `rebalancer.dev/workload` as an index into `workloadKinds`, or NONE. */
  readonly workloadKind: ArrayLike<number>;
  readonly workloadKinds: readonly string[];
}

/** What is true of a pod. */
export const POD = {
  mirror: 1,
  terminating: 2,
  pinned: 4,
  moveForbidden: 8,
  safeToEvictFalse: 16,
  doNotDisrupt: 32,
  hostPath: 64,
  emptyDir: 128,
  localVolume: 256,
  zonalVolume: 512,
  otherVolume: 1024,
  pending: 2048,
  /** Its replacement would have another template (a StatefulSet that is being updated). */
  otherRevision: 4096,
} as const;

/** A plan that is carried out in several waves. */
export interface PlanUnderWay {
  /** Pods by uid that are still to be evicted. */
  readonly pods: readonly string[];
  /** σ when all of them have moved, as it was foretold when the plan was made. */
  readonly sigma: number;
}

/** What earlier plans left behind. */
export interface PlanMemory {
  /**
   * The time by which windows and back-offs are counted. It differs from the wall clock after a jump. Absent: the
   * snapshot's.
   */
  readonly at?: number;
  /** How hot each node was, by name. */
  readonly levels: Readonly<Record<string, BandState>>;
  /** The whole plan that earlier waves are part of; null for a new one. Absent: null. */
  readonly underWay?: PlanUnderWay | null;
  /** Evictions of the last minute by all policies. */
  readonly lastMinute: number;
  /** Evictions of the last hour by namespace and name of the SLO (`namespace/name`). */
  readonly lastHour: Readonly<Record<string, number>>;
  /**
   * A workload that returned to its node is not moved from it again before `until`. `owner` is the uid of its workload.
   */
  readonly backOffs: readonly { readonly owner: string; readonly node: string; readonly until: number }[];
  /** PodDisruptionBudgets as `namespace/name` whose status does not count the last eviction yet. Absent: none. */
  readonly awaited?: readonly string[];
  /** Pods by uid whose eviction was refused not long ago, and the code of what refused it. Absent: none. */
  readonly refused?: readonly { readonly pod: string; readonly by: string }[];
  /** When pods that were evicted in the last hour were gone from their nodes. Absent: unknown. */
  readonly departures?: readonly { readonly node: string; readonly at: number }[];
  /** Workloads by uid of which an evicted pod has had no ready replacement for an hour or more. Absent: none. */
  readonly unreplaced?: readonly string[];
  /**
   * Evictions of the last hour whose replacement is not ready yet. `owner` is the uid of the pod's owner, `expected`
   * are the nodes where its load is foreseen.
   */
  readonly inFlight: readonly {
    readonly owner: string;
    readonly shape: number;
    readonly from: string;
    readonly expected: readonly { readonly node: string; readonly probability: number }[];
  }[];
}
