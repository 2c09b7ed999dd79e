import type { Cluster } from "@evenkeel/control-plane";
import { kubectl } from "./kubectl-steps.ts";

/** A token of a ServiceAccount, as its pod has one. */
export async function tokenOf(cluster: Cluster, namespace: string, account: string): Promise<string> {
  return (await kubectl(cluster, ["create", "token", account, "-n", namespace, "--duration=1h"])).trim();
}

/** Path of a kubeconfig with a ServiceAccount's token and nothing else, for `namespace`, as its pod is configured. */
export async function accountKubeconfig(cluster: Cluster, namespace: string, account: string): Promise<string> {
  return cluster.kubeconfigWith({ user: account, token: await tokenOf(cluster, namespace, account), namespace });
}
