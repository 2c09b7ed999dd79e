import type { Labels, LabelSelector, NodeSelectorTerm, Taint, Toleration } from "./facts.ts";

/**
 * What is read of Kubernetes objects, as the API server sends them. Any richer type of the same objects fits.
 */
export interface MetadataJson {
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: Labels;
}

export type QuantitiesJson = Readonly<Record<string, string | number>>;

export interface ContainerJson {
  readonly name?: string;
  readonly image?: string;
  readonly resources?: { readonly requests?: QuantitiesJson; readonly limits?: QuantitiesJson };
  readonly restartPolicy?: string;
  readonly ports?: readonly { readonly hostPort?: number; readonly hostIP?: string; readonly protocol?: string }[];
}

export interface ContainerStatusJson {
  readonly name?: string;
  readonly resources?: { readonly requests?: QuantitiesJson };
  readonly allocatedResources?: QuantitiesJson;
}

export interface PodAffinityTermJson {
  readonly topologyKey?: string;
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
}

export interface PodAffinityJson {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTermJson[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight?: number;
    readonly podAffinityTerm?: PodAffinityTermJson;
  }[];
}

export interface NodeAffinityJson {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
  };
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight?: number;
    readonly preference?: NodeSelectorTerm;
  }[];
}

export interface SpreadConstraintJson {
  readonly topologyKey?: string;
  readonly maxSkew?: number;
  readonly whenUnsatisfiable?: string;
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
}

export interface VolumeJson {
  readonly name?: string;
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly ephemeral?: object;
  readonly image?: { readonly reference?: string };
  readonly gcePersistentDisk?: object;
  readonly awsElasticBlockStore?: object;
  readonly azureDisk?: object;
  readonly iscsi?: object;
  readonly rbd?: object;
}

export interface PodSpecJson {
  readonly nodeName?: string;
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly object[];
  readonly resourceClaims?: readonly object[];
  readonly preemptionPolicy?: string;
  readonly nodeSelector?: Labels;
  readonly affinity?: {
    readonly nodeAffinity?: NodeAffinityJson;
    readonly podAffinity?: PodAffinityJson;
    readonly podAntiAffinity?: PodAffinityJson;
  };
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly SpreadConstraintJson[];
  readonly containers?: readonly ContainerJson[];
  readonly initContainers?: readonly ContainerJson[];
  readonly resources?: { readonly requests?: QuantitiesJson };
  readonly overhead?: QuantitiesJson;
  readonly volumes?: readonly VolumeJson[];
}

export interface PodStatusJson {
  readonly conditions?: readonly { readonly type?: string; readonly reason?: string }[];
  readonly containerStatuses?: readonly ContainerStatusJson[];
  readonly initContainerStatuses?: readonly ContainerStatusJson[];
  readonly resources?: { readonly requests?: QuantitiesJson };
  readonly allocatedResources?: QuantitiesJson;
}

export interface PodJson {
  readonly metadata?: MetadataJson;
  readonly spec?: PodSpecJson;
  readonly status?: PodStatusJson;
}

export interface NodeJson {
  readonly metadata?: MetadataJson;
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly allocatable?: QuantitiesJson;
    readonly images?: readonly { readonly names?: readonly string[]; readonly sizeBytes?: number }[];
  };
}

export interface CsiNodeJson {
  readonly spec?: {
    readonly drivers?: readonly { readonly name: string; readonly allocatable?: { readonly count?: number } }[];
  };
}

export interface ClaimJson {
  readonly spec?: { readonly volumeName?: string; readonly accessModes?: readonly string[] };
}

export interface PersistentVolumeJson {
  readonly metadata?: MetadataJson;
  readonly spec?: {
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] } };
    readonly csi?: { readonly driver?: string; readonly volumeHandle?: string };
  };
}
