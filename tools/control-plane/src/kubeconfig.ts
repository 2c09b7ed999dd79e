import { readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import type { CertificateFiles } from "./certificates.ts";

export interface KubeconfigContent {
  /** Name of the cluster and of the context. */
  readonly cluster: string;
  readonly server: string;
  readonly caFile: string;
  readonly user: string;
  /** The credentials of the user. */
  readonly identity: CertificateFiles | { readonly token: string };
  /** The default namespace; `default` unless set. */
  readonly namespace?: string;
}

/** Writes a self-contained kubeconfig that only its user can read. */
export function writeKubeconfig(file: string, content: KubeconfigContent): void {
  const base64 = (path: string): string => readFileSync(path).toString("base64");
  const { cluster, server, user, identity, namespace } = content;
  const known =
    "token" in identity
      ? { token: identity.token }
      : { "client-certificate-data": base64(identity.certificate), "client-key-data": base64(identity.key) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: cluster, cluster: { server, "certificate-authority-data": base64(content.caFile) } }],
    users: [{ name: user, user: known }],
    contexts: [{ name: cluster, context: { cluster, user, ...(namespace !== undefined && { namespace }) } }],
    "current-context": cluster,
  };
  writeFileSync(file, stringify(config, { lineWidth: 0 }), { mode: 0o600 });
}
