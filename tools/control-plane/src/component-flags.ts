import type { CertificateFiles } from "./certificates.ts";

/** Input for the command lines of one cluster's components. */
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
  /** The client certificate of kube-apiserver for aggregated API servers. */
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
  /** The client certificate of kube-apiserver for a real kubelet; undefined with KWOK nodes. */
  readonly kubeletClient: CertificateFiles | undefined;
  readonly podCidr: string;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly apiserverFlags: readonly string[];
  readonly schedulerFlags: readonly string[];
  readonly audit: { readonly policy: string; readonly log: string } | undefined;
}

/**
 * The same range for every cluster. A cluster with KWOK has no packets to it, and those of a real node stay in its
 * namespace.
 */
const SERVICE_CIDR = "10.96.0.0/16";

/** The first address of the range, which the Service `default/kubernetes` gets. */
export const KUBERNETES_SERVICE_IP = "10.96.0.1";

/** Address of the DNS server of a real node, and the domain of the cluster. */
export const CLUSTER_DNS_IP = "10.96.0.10";
export const CLUSTER_DOMAIN = "cluster.local";

/** Client limits that a test with a thousand pods does not reach. */
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
    // The data is temporary, and an fsync for each write makes etcd slow.
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
    // Without kube-proxy, kube-apiserver reaches an aggregated API server only by its endpoints.
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
    // All controllers. Those that need a cloud provider stay off without one.
    "--controllers=*",
    // Each controller acts as a service account with the built-in role of its name, instead of one user with all
    // rights.
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
    // The node lifecycle controller marks nodes without renewed leases as dead.
    "--node-lease-duration-seconds=40",
    `--cidr=${plan.podCidr}`,
    `--server-address=127.0.0.1:${plan.ports.kwok}`,
  ];
}

/** The flags for requests to a real kubelet, and for the limit of its rights to its own node's objects. */
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
