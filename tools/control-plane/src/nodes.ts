/** Size and labels of a KWOK node, with quantities of Kubernetes. */
export interface NodeShape {
  /** Default 8. */
  readonly cpu?: string;
  /** Default 32Gi. */
  readonly memory?: string;
  /** How many pods fit. Default 110. */
  readonly pods?: string;
  /** Labels in addition to the well-known ones. */
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * The Node object of number `index`, counted from 0; its name is `node-<index>`. Any Node that is created becomes
 * ready, so a test may add nodes of other shapes at any time.
 */
export function nodeManifest(index: number, shape: NodeShape = {}): Record<string, unknown> {
  const { cpu = "8", memory = "32Gi", pods = "110", labels = {} } = shape;
  const name = `node-${index}`;
  const size = { cpu, memory, pods };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      annotations: { "kwok.x-k8s.io/node": "fake" },
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": process.arch === "x64" ? "amd64" : process.arch,
        ...labels,
      },
    },
    status: {
      capacity: size,
      allocatable: size,
      addresses: [
        { type: "InternalIP", address: nodeAddress(index) },
        { type: "Hostname", address: name },
      ],
    },
  };
}

/** 10.201.0.1, 10.201.0.2, …: outside the pods' default range, without listeners. */
export function nodeAddress(index: number): string {
  const number = index + 1;
  return `10.201.${number >> 8}.${number & 255}`;
}

/** Why a Node does not accept pods yet; undefined once it does. */
export function whyNodeNotReady(node: NodeStatus): string | undefined {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "missing";
  if (ready !== "True") return `condition Ready is ${ready}`;
  const taint = node.spec?.taints?.find(({ key }) => key.startsWith("node.kubernetes.io/"));
  return taint === undefined ? undefined : `taint ${taint.key} is not removed yet`;
}

/** The fields of a Node that show whether it accepts pods. */
export interface NodeStatus {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
