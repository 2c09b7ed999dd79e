import { CertificateAuthority, type CertificateFiles, makeKeyPair, type Subject } from "./certificates.ts";
import { KUBERNETES_SERVICE_IP } from "./component-flags.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import type { RunFolder } from "./run-folder.ts";

/** Keys, certificates and kubeconfigs of one cluster; all of them are paths. */
export interface Credentials {
  readonly authority: CertificateAuthority;
  readonly serving: CertificateFiles;
  readonly frontProxy: CertificateFiles;
  readonly frontProxyCaFile: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  readonly admin: CertificateFiles;
  readonly kubeconfigs: { readonly controllerManager: string; readonly scheduler: string; readonly kwok: string };
}

/** Users that Kubernetes itself binds to roles, except KWOK, which acts for all kubelets. */
const ADMIN: Subject = { user: "admin", groups: ["system:masters"] };
const CONTROLLER_MANAGER: Subject = { user: "system:kube-controller-manager" };
const SCHEDULER: Subject = { user: "system:kube-scheduler" };
const KWOK: Subject = { user: "kwok", groups: ["system:masters"] };

export interface CredentialsOptions {
  readonly folder: RunFolder;
  readonly cluster: string;
  readonly server: string;
  readonly advertiseAddress: string;
}

/** Creates all secrets of a cluster. Nothing that one cluster signed is valid in another. */
export async function issueCredentials(options: CredentialsOptions): Promise<Credentials> {
  const { folder, cluster, server, advertiseAddress } = options;
  const [authority, frontProxyAuthority] = await Promise.all([
    CertificateAuthority.create(folder.file("pki"), `evenkeel-${cluster}`),
    CertificateAuthority.create(folder.file("pki", "front-proxy"), `evenkeel-${cluster}-front-proxy`),
  ]);
  const serviceAccountKey = folder.file("pki", "service-account.key");
  const serviceAccountPublicKey = folder.file("pki", "service-account.pub");
  const caFile = authority.files.certificate;

  const kubeconfig = async (name: string, file: string, subject: Subject): Promise<CertificateFiles> => {
    const client = await authority.issueClient(name, subject);
    writeKubeconfig(file, { cluster, server, caFile, user: subject.user, identity: client });
    return client;
  };
  const kubeconfigs = {
    controllerManager: folder.file("kube-controller-manager.kubeconfig.yaml"),
    scheduler: folder.file("kube-scheduler.kubeconfig.yaml"),
    kwok: folder.file("kwok.kubeconfig.yaml"),
  };
  const [serving, frontProxy, admin] = await Promise.all([
    authority.issueServer("kube-apiserver", servingAddresses(advertiseAddress)),
    frontProxyAuthority.issueClient("front-proxy-client", { user: "front-proxy-client" }),
    kubeconfig("admin", folder.kubeconfig, ADMIN),
    kubeconfig("kube-controller-manager", kubeconfigs.controllerManager, CONTROLLER_MANAGER),
    kubeconfig("kube-scheduler", kubeconfigs.scheduler, SCHEDULER),
    kubeconfig("kwok", kubeconfigs.kwok, KWOK),
    makeKeyPair(serviceAccountKey, serviceAccountPublicKey),
  ]);
  const frontProxyCaFile = frontProxyAuthority.files.certificate;
  const keys = { serviceAccountKey, serviceAccountPublicKey };
  return { authority, serving, frontProxy, frontProxyCaFile, ...keys, admin, kubeconfigs };
}

function servingAddresses(advertiseAddress: string): string[] {
  return [
    "IP:127.0.0.1",
    `IP:${KUBERNETES_SERVICE_IP}`,
    `IP:${advertiseAddress}`,
    "DNS:localhost",
    "DNS:kubernetes",
    "DNS:kubernetes.default",
    "DNS:kubernetes.default.svc",
    "DNS:kubernetes.default.svc.cluster.local",
  ];
}
