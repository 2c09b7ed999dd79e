import { ControlPlaneError } from "./errors.ts";
import type { Folders } from "./folders.ts";
import type { NodeShape } from "./nodes.ts";

/** Every option has a default: `startCluster()` starts a cluster with three nodes that stops with this process. */
export interface ClusterOptions {
  /** A DNS label. Clusters of tests may share a name; kept ones may not. Default `evenkeel`. */
  readonly name?: string;
  /**
   * `kwok`: nodes that run nothing, without root. `real`: one node with a kubelet, containers and kube-proxy, in a
   * network namespace of its own, as root. Default `kwok`.
   */
  readonly node?: "kwok" | "real";
  /** Number and size of KWOK nodes. Default: 3 of the default shape. */
  readonly nodes?: number | (NodeShape & { readonly count: number });
  /** Feature gates of kube-apiserver, kube-controller-manager and kube-scheduler. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** More flags of kube-apiserver, such as `--runtime-config=api/alpha=true`. They override the tool's own. */
  readonly apiserverFlags?: readonly string[];
  /** More flags of kube-scheduler, such as `--v=10`. They override the tool's own. */
  readonly schedulerFlags?: readonly string[];
  /** Write an audit log at level Metadata, with user, verb and object. Default: false. */
  readonly audit?: boolean;
  /** Port of kube-apiserver. Default: a free one. If a named port is in use, the start fails. */
  readonly apiserverPort?: number;
  /**
   * Address of kube-apiserver in the EndpointSlice `default/kubernetes`. Kubernetes refuses loopback there. Default:
   * 192.0.2.1, which is not assigned. A real node uses another, at which its pods reach kube-apiserver.
   */
  readonly advertiseAddress?: string;
  /** Range of KWOK's pod addresses. Default: 10.200.0.0/16. A real node has a range that is not used on the machine. */
  readonly podCidr?: string;
  /** Keep it running after this process ends, until it is stopped by name. Default: false. */
  readonly keep?: boolean;
  /** Use the programs of this folder (`bin/`, `kwok-stages.yaml`) instead of the pinned ones. */
  readonly toolset?: string;
  /** Maximum milliseconds until a component is ready. Default: 60,000. */
  readonly deadlineMs?: number;
  /** Default: the folders of the XDG base directory specification. */
  readonly folders?: Folders;
  /** Called with progress messages. Default: they are dropped. */
  readonly progress?: (line: string) => void;
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Throws for a value that would fail later with a less clear message. */
export function checkOptions(options: ClusterOptions): void {
  const { name, node, nodes, apiserverPort } = options;
  const refuse = (reason: string): never => {
    throw new ControlPlaneError("EK_CLUSTER_OPTION", reason);
  };
  if (name !== undefined && !DNS_LABEL.test(name)) {
    refuse(`the name "${name}" must be 1 to 63 of a-z, 0-9 and -, and may not start or end with -`);
  }
  if (node === "real") {
    const unfit = (["nodes", "advertiseAddress", "podCidr", "toolset"] as const).find(
      (option) => options[option] !== undefined,
    );
    if (unfit !== undefined) refuse(`${unfit} is for KWOK nodes; a real node has its own`);
  }
  const count = typeof nodes === "object" ? nodes.count : (nodes ?? 0);
  if (!Number.isSafeInteger(count) || count < 0 || count > 10_000) refuse(`nodes must be 0 to 10000, not ${count}`);
  if (
    apiserverPort !== undefined &&
    !(Number.isInteger(apiserverPort) && apiserverPort > 0 && apiserverPort < 65_536)
  ) {
    refuse(`apiserverPort must be 1 to 65535, not ${apiserverPort}`);
  }
}
