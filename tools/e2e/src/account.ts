import type { Cluster } from "@evenkeel/control-plane";
import { kubectl } from "./kubectl-steps.ts";

/** A token of a ServiceAccount, as in its pod. */
export async function tokenOf(cluster: Cluster, namespace: string, account: string): Promise<string> {
  return (await kubectl(cluster, ["create", "token", account, "-n", namespace, "--duration=1h"])).trim();
}

/** Path of a kubeconfig for `namespace` with only a ServiceAccount's token, as in its pod. */
export async function accountKubeconfig(cluster: Cluster, namespace: string, account: string): Promise<string> {
  return cluster.kubeconfigWith({ user: account, token: await tokenOf(cluster, namespace, account), namespace });
}
