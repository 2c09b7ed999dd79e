import { mkdirSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import type { CertificateFiles } from "../certificates.ts";
import { CLUSTER_DNS_IP, CLUSTER_DOMAIN } from "../component-flags.ts";
import type { RunFolder } from "../run-folder.ts";
import type { NodeNetwork } from "./network.ts";
import { PAUSE_IMAGE } from "./node-images.ts";
import { NODE_NAME, type NodePlaces } from "./places.ts";

export interface NodeFilesOptions {
  readonly folder: RunFolder;
  readonly places: NodePlaces;
  readonly network: NodeNetwork;
  /** Folder of the pods' network plugins. */
  readonly plugins: string;
  readonly caFile: string;
  readonly kubeletServing: CertificateFiles;
  readonly kubeProxyKubeconfig: string;
}

/** Paths of the configuration of each program. */
export interface NodeFiles {
  readonly containerd: string;
  readonly kubelet: string;
  readonly kubeProxy: string;
}

/** Health ports on the node's address. */
export const KUBELET_HEALTH_PORT = 10_248;
export const KUBE_PROXY_HEALTH_PORT = 10_256;

export function writeNodeFiles(options: NodeFilesOptions): NodeFiles {
  const { folder } = options;
  const files = {
    containerd: folder.file("node", "containerd.toml"),
    kubelet: folder.file("node", "kubelet.yaml"),
    kubeProxy: folder.file("node", "kube-proxy.yaml"),
  };
  mkdirSync(folder.file("node", "cni"), { recursive: true });
  writeFileSync(folder.file("node", "cni", "10-bridge.conflist"), JSON.stringify(podNetwork(options), undefined, 2));
  // Pods of the machine's own network (dnsPolicy Default) have no name server.
  writeFileSync(folder.file("node", "resolv.conf"), "");
  writeFileSync(files.containerd, containerdConfiguration(options));
  writeFileSync(files.kubelet, stringify(kubeletConfiguration(options)));
  writeFileSync(files.kubeProxy, stringify(kubeProxyConfiguration(options)));
  return files;
}

/** A pod that calls its own Service gets the packet back on the same bridge port, so hairpin mode is needed. */
function podNetwork({ folder, places, network }: NodeFilesOptions): object {
  const ipam = {
    type: "host-local",
    dataDir: folder.file("node", "pod-addresses"),
    ranges: [[{ subnet: network.podCidr }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  const bridge = { type: "bridge", bridge: "pods0", isGateway: true, hairpinMode: true, ipMasq: false, ipam };
  return { cniVersion: "1.0.0", name: places.podNetwork, plugins: [bridge] };
}

function containerdConfiguration({ folder, places, plugins }: NodeFilesOptions): string {
  const text = JSON.stringify;
  return `version = 3
root = ${text(folder.file("node", "containerd"))}
state = ${text(`${places.runtime}/containerd`)}
oom_score = 0
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.internal.v1.tracing",
  "io.containerd.nri.v1.nri",
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.erofs",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.tracing.processor.v1.otlp",
]

[grpc]
  address = ${text(places.containerdSocket)}

[plugins.'io.containerd.shim.v1.manager']
  socket_dir = ${text(`${places.runtime}/shims`)}

[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = ${text(PAUSE_IMAGE)}

[plugins.'io.containerd.cri.v1.runtime']
  # Root may lack the right to lower the score of a process, or to use AppArmor and huge pages.
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  enable_unprivileged_ports = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = [${text(plugins)}]
    conf_dir = ${text(folder.file("node", "cni"))}
    use_internal_loopback = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        Root = ${text(`${places.runtime}/runc`)}
        SystemdCgroup = false
`;
}

function kubeletConfiguration({ folder, places, network, caFile, kubeletServing }: NodeFilesOptions): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: network.nodeAddress,
    healthzBindAddress: network.nodeAddress,
    healthzPort: KUBELET_HEALTH_PORT,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: caFile },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: kubeletServing.certificate,
    tlsPrivateKeyFile: kubeletServing.key,
    clusterDNS: [CLUSTER_DNS_IP],
    clusterDomain: CLUSTER_DOMAIN,
    resolvConf: folder.file("node", "resolv.conf"),
    containerRuntimeEndpoint: `unix://${places.containerdSocket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${places.cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    podLogsDir: folder.file("node", "pod-logs"),
    volumePluginDir: folder.file("node", "volume-plugins"),
    // Images come only from archives, so none may be removed, and the node must not react to the machine's disk usage.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
  };
}

function kubeProxyConfiguration({ network, kubeProxyKubeconfig }: NodeFilesOptions): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clientConnection: { kubeconfig: kubeProxyKubeconfig },
    clusterCIDR: network.podCidr,
    hostnameOverride: NODE_NAME,
    healthzBindAddress: `${network.nodeAddress}:${KUBE_PROXY_HEALTH_PORT}`,
    // Limits of connection tracking belong to the machine, not to a network namespace.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
}
