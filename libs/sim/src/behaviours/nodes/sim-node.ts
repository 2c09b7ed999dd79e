export interface NodeCapacity {
  /** Quantities, such as `4` or `3500m`, and `16Gi`. */
  readonly cpu: string | number;
  readonly memory: string | number;
  /** Pods that fit at most; 110 unless told. */
  readonly pods?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

/** A Node as the API takes it. A type and not an interface, so that it is plain fields too. */
export type SimNode = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: object;
  readonly status: object;
};

/** A ready Node, to be created as it is: all that it has is allocatable. */
export function simNode(name: string, { cpu, memory, pods = 110, labels = {}, taints = [] }: NodeCapacity): SimNode {
  const capacity = { cpu: String(cpu), memory: String(memory), pods: String(pods) };
  return {
    ...{ apiVersion: "v1", kind: "Node" },
    metadata: { name, labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", ...labels } },
    spec: taints.length === 0 ? {} : { taints },
    status: {
      ...{ capacity, allocatable: capacity, addresses: [{ type: "Hostname", address: name }] },
      conditions: [
        { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
      ],
      nodeInfo: { kubeletVersion: "v1.36.3", operatingSystem: "linux", architecture: "amd64" },
    },
  };
}
