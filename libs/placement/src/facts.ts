/**
 * What the scheduler reads of nodes and pods, as plain JSON. Amounts are integers in the scheduler's units: milli-CPU
 * for `cpu`, bytes for `memory` and `ephemeral-storage`, counts for everything else.
 */
export type Amounts = Readonly<Record<string, number>>;

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** One node, as the scheduler sees it. */
export interface NodeFacts {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  /** Includes `pods`, the number of pods that the node takes. */
  readonly allocatable: Amounts;
  readonly images: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
  /** The most volumes of a CSI driver that can be attached, by driver; from CSINode. */
  readonly attachLimits: Readonly<Record<string, number>>;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly LabelExpression[];
  readonly matchFields?: readonly LabelExpression[];
}

export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly selector: LabelSelector | null;
  /**
   * Resolved namespaces: names, or every namespace whose labels match. The pod's own namespace is already among
   * `names`.
   */
  readonly namespaces: { readonly names: readonly string[]; readonly selector: LabelSelector | null };
}

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
  /** With matchLabelKeys merged in. */
  readonly selector: LabelSelector | null;
  readonly minDomains: number;
  readonly honorAffinity: boolean;
  readonly honorTaints: boolean;
}

/** A claim of the pod, resolved to what it means for the choice of a node. */
export interface VolumeFacts {
  /** Unique name of the volume, so that pods that share it are known. */
  readonly name: string;
  /** Required terms of the PersistentVolume's node affinity; empty where there is none. */
  readonly nodeAffinity: readonly NodeSelectorTerm[];
  /** Zone and region labels of the volume. */
  readonly zones: Labels;
  readonly csiDriver: string | null;
  /** ReadWriteOncePod: only one pod may use it. */
  readonly onePod: boolean;
}

/**
 * Everything of one pod that decides where it may run. Replicas of one owner share a shape, so a cluster of 150,000
 * pods has a few thousand shapes. Pods of StatefulSets and Jobs, which have labels of their own, have one each.
 */
export interface PodShape {
  readonly namespace: string;
  readonly labels: Labels;
  /** Effective requests: containers, sidecars, init steps, pod-level requests and overhead. */
  readonly requests: Amounts;
  /** As `requests`, where each container without a request counts 100m and 200Mi. */
  readonly scoredRequests: { readonly cpu: number; readonly memory: number };
  readonly hostPorts: readonly { readonly address: string; readonly protocol: string; readonly port: number }[];
  /** Images of all containers and image volumes, with their tags; one that is used twice is named twice. */
  readonly images: readonly string[];
  /** Containers and init containers. */
  readonly containers: number;
  readonly nodeName: string | null;
  readonly nodeSelector: Labels;
  /** Terms of the required node affinity; null where there is none (an empty list matches no node). */
  readonly requiredNodes: readonly NodeSelectorTerm[] | null;
  readonly preferredNodes: readonly { readonly weight: number; readonly term: NodeSelectorTerm }[];
  readonly tolerations: readonly Toleration[];
  readonly affinity: PodAffinityFacts;
  readonly antiAffinity: PodAffinityFacts;
  /** The pod's own constraints. */
  readonly spread: readonly SpreadConstraint[];
  /** Selector of the pod's owner, from which the scheduler's default constraints are made; null where there is none. */
  readonly ownerSelector: LabelSelector | null;
  readonly volumes: readonly VolumeFacts[];
  readonly canPreempt: boolean;
  /** Why the scheduler's choice cannot be foretold; null where it can. */
  readonly unmodelled: UnmodelledReason | null;
}

export interface PodAffinityFacts {
  readonly required: readonly PodAffinityTerm[];
  readonly preferred: readonly { readonly weight: number; readonly term: PodAffinityTerm }[];
}

/** What this model leaves out. A pod that needs it is never moved. */
export type UnmodelledReason =
  "OtherScheduler" | "SchedulingGates" | "ResourceClaims" | "UnboundClaim" | "UnknownVolume" | "UnknownQuantity";
