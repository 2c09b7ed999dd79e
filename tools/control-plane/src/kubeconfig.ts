import { readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import type { CertificateFiles } from "./certificates.ts";

export interface KubeconfigContent {
  /** Name of the cluster and of the context. */
  readonly cluster: string;
  readonly server: string;
  readonly caFile: string;
  readonly user: string;
  readonly client: CertificateFiles;
}

/** Writes a kubeconfig that needs no other file, readable by its user alone. */
export function writeKubeconfig(file: string, content: KubeconfigContent): void {
  const base64 = (path: string): string => readFileSync(path).toString("base64");
  const { cluster, server, user } = content;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: cluster, cluster: { server, "certificate-authority-data": base64(content.caFile) } }],
    users: [
      {
        name: user,
        user: {
          "client-certificate-data": base64(content.client.certificate),
          "client-key-data": base64(content.client.key),
        },
      },
    ],
    contexts: [{ name: cluster, context: { cluster, user } }],
    "current-context": cluster,
  };
  writeFileSync(file, stringify(config, { lineWidth: 0 }), { mode: 0o600 });
}
