import type { CertificateFiles } from "./certificates.ts";

/** Everything that the command lines of one cluster's components are made from. */
export interface ClusterPlan {
  readonly ports: {
    readonly etcdClient: number;
    readonly etcdPeer: number;
    readonly apiserver: number;
    readonly controllerManager: number;
    readonly scheduler: number;
    readonly kwok: number;
  };
  readonly etcdData: string;
  readonly caFiles: CertificateFiles;
  /** One certificate for the three servers that listen on loopback. */
  readonly serving: CertificateFiles;
  /** By which kube-apiserver shows itself to aggregated API servers. */
  readonly frontProxy: CertificateFiles;
  readonly frontProxyCaFile: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  readonly kubeconfigs: {
    readonly controllerManager: string;
    readonly scheduler: string;
    readonly kwok: string;
  };
  readonly stages: string;
  /** Where kube-apiserver listens. */
  readonly apiserverAddress: string;
  readonly advertiseAddress: string;
  /** By which kube-apiserver shows itself to a real kubelet; undefined if KWOK plays the nodes. */
  readonly kubeletClient: CertificateFiles | undefined;
  readonly podCidr: string;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly apiserverFlags: readonly string[];
  readonly schedulerFlags: readonly string[];
  readonly audit: { readonly policy: string; readonly log: string } | undefined;
}

/** Every cluster has the same range: packets to it leave neither KWOK's cluster, which has none, nor a real node. */
export const SERVICE_CIDR = "10.96.0.0/16";

/** The first address of the range, which the Service `default/kubernetes` gets. */
export const KUBERNETES_SERVICE_IP = "10.96.0.1";

/** Where pods of a real node ask for names, and what names of the cluster end in. */
export const CLUSTER_DNS_IP = "10.96.0.10";
export const CLUSTER_DOMAIN = "cluster.local";

/** Client limits that a test with a thousand pods does not meet. */
const CLIENT_LIMITS = ["--kube-api-qps=500", "--kube-api-burst=1000"];

export function etcdFlags({ ports, etcdData }: ClusterPlan): string[] {
  const client = `http://127.0.0.1:${ports.etcdClient}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    "--name=evenkeel",
    `--data-dir=${etcdData}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=evenkeel=${peer}`,
    // The data need not outlive the machine, and an fsync for each write is what etcd is slow for.
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
}

export function apiserverFlags(plan: ClusterPlan): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${plan.ports.etcdClient}`,
    `--bind-address=${plan.apiserverAddress}`,
    `--secure-port=${plan.ports.apiserver}`,
    `--advertise-address=${plan.advertiseAddress}`,
    ...servingFlags(plan),
    `--client-ca-file=${plan.caFiles.certificate}`,
    "--authorization-mode=Node,RBAC",
    "--allow-privileged=true",
    `--service-cluster-ip-range=${SERVICE_CIDR}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${plan.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${plan.serviceAccountKey}`,
    `--requestheader-client-ca-file=${plan.frontProxyCaFile}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${plan.frontProxy.certificate}`,
    `--proxy-client-key-file=${plan.frontProxy.key}`,
    // kube-apiserver has no kube-proxy, so it reaches an aggregated API server by its endpoints alone.
    "--enable-aggregator-routing=true",
    ...kubeletFlags(plan),
    ...(plan.audit === undefined
      ? []
      : [`--audit-policy-file=${plan.audit.policy}`, `--audit-log-path=${plan.audit.log}`]),
    ...featureGateFlags(plan),
    ...plan.apiserverFlags,
  ];
}

export function controllerManagerFlags(plan: ClusterPlan): string[] {
  return [
    ...clientFlags(plan.kubeconfigs.controllerManager),
    "--bind-address=127.0.0.1",
    `--secure-port=${plan.ports.controllerManager}`,
    ...servingFlags(plan),
    // All that need no cloud; those that do stay off by themselves without a cloud provider.
    "--controllers=*",
    // Its own user may do next to nothing: each controller acts as a service account with the built-in role of its name.
    "--use-service-account-credentials=true",
    `--service-account-private-key-file=${plan.serviceAccountKey}`,
    `--root-ca-file=${plan.caFiles.certificate}`,
    `--cluster-signing-cert-file=${plan.caFiles.certificate}`,
    `--cluster-signing-key-file=${plan.caFiles.key}`,
    ...CLIENT_LIMITS,
    ...featureGateFlags(plan),
  ];
}

export function schedulerFlags(plan: ClusterPlan): string[] {
  return [
    ...clientFlags(plan.kubeconfigs.scheduler),
    "--bind-address=127.0.0.1",
    `--secure-port=${plan.ports.scheduler}`,
    ...servingFlags(plan),
    ...CLIENT_LIMITS,
    ...featureGateFlags(plan),
    ...plan.schedulerFlags,
  ];
}

export function kwokFlags(plan: ClusterPlan): string[] {
  return [
    `--kubeconfig=${plan.kubeconfigs.kwok}`,
    `--config=${plan.stages}`,
    "--manage-all-nodes=true",
    // Renewed leases are what keeps the node lifecycle controller from calling the nodes dead.
    "--node-lease-duration-seconds=40",
    `--cidr=${plan.podCidr}`,
    `--server-address=127.0.0.1:${plan.ports.kwok}`,
  ];
}

/** How kube-apiserver reaches a real kubelet, and keeps it to its own node's objects. */
function kubeletFlags({ kubeletClient, caFiles }: ClusterPlan): string[] {
  if (kubeletClient === undefined) return [];
  return [
    `--kubelet-client-certificate=${kubeletClient.certificate}`,
    `--kubelet-client-key=${kubeletClient.key}`,
    `--kubelet-certificate-authority=${caFiles.certificate}`,
    "--kubelet-preferred-address-types=InternalIP",
    "--enable-admission-plugins=NodeRestriction",
  ];
}

function clientFlags(kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
  ];
}

function servingFlags({ serving }: ClusterPlan): string[] {
  return [`--tls-cert-file=${serving.certificate}`, `--tls-private-key-file=${serving.key}`];
}

function featureGateFlags({ featureGates }: ClusterPlan): string[] {
  const gates = Object.entries(featureGates).map(([gate, on]) => `${gate}=${on}`);
  return gates.length === 0 ? [] : [`--feature-gates=${gates.join(",")}`];
}
