import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "@evenkeel/control-plane";
import { kubectl } from "@evenkeel/e2e";

/** A token of a ServiceAccount, as its pod has one. */
export async function tokenOf(cluster: Cluster, namespace: string, account: string): Promise<string> {
  return (await kubectl(cluster, ["create", "token", account, "-n", namespace, "--duration=1h"])).trim();
}

/** Writes a kubeconfig with exactly a ServiceAccount's rights, and gives its path. */
export async function accountKubeconfig(
  cluster: Cluster,
  namespace: string,
  account: string,
  folder: string,
): Promise<string> {
  const ca = readFileSync(cluster.caFile).toString("base64");
  const file = join(folder, `${account}.kubeconfig`);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: cluster.server, "certificate-authority-data": ca } }],
    users: [{ name: account, user: { token: await tokenOf(cluster, namespace, account) } }],
    contexts: [{ name: "x", context: { cluster: "c", user: account, namespace } }],
    "current-context": "x",
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
