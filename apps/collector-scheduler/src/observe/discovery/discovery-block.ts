/** One entry of a job's discovery configuration, checked and with defaults filled in. Times are in milliseconds. */
export type DiscoveryBlock = StaticBlock | KubernetesBlock;

export type Mechanism = DiscoveryBlock["mechanism"];

export interface StaticBlock {
  readonly mechanism: "static";
  /** All `static_configs` of the job. */
  readonly groups: readonly {
    readonly targets: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

export type KubernetesRole = "pod" | "service" | "endpoints" | "endpointslice" | "node" | "ingress";

export interface KubernetesBlock {
  readonly mechanism: "kubernetes";
  readonly role: KubernetesRole;
  /** Where to look; empty for all namespaces. `own_namespace` and the discovery scope are resolved. */
  readonly namespaces: readonly string[];
  readonly selectors: Readonly<Partial<Record<KubernetesRole, ObjectSelector>>>;
  readonly attach: AttachedMetadata;
}

export interface ObjectSelector {
  readonly label?: string;
  readonly field?: string;
}

/** Of which other objects the metadata is attached to targets. */
export interface AttachedMetadata {
  readonly node: boolean;
  readonly namespace: boolean;
  readonly deployment: boolean;
  readonly job: boolean;
  readonly cronjob: boolean;
}
