import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cluster, waitUntil } from "@evenkeel/control-plane";
import { accountKubeconfig } from "./account.ts";
import { helmEnvironment, helmOutput, pinnedHelm } from "./helm.ts";
import { get, kubectl, list } from "./kubectl-steps.ts";
import type { Role, Rule } from "./used-rights.ts";

const CHARTS = join(import.meta.dirname, "../../../charts");

export interface ChartInstall {
  /** A service's chart. The account and all created objects have its name. */
  readonly chart: string;
  /** Created if it is missing. Namespaces in values must exist. */
  readonly namespace: string;
  /** In the format of `--set`: `settings.watchNamespaces={east,west}`. */
  readonly values?: readonly string[];
}

export interface ChartAccount {
  /** Path of a kubeconfig with the account's token, which has exactly the rights that the chart grants. */
  readonly kubeconfig: string;
  /** The user's name for the API server. */
  readonly user: string;
}

/**
 * Installs a service's chart with Helm (without its CRDs), or upgrades it to other values, and returns the
 * ServiceAccount with which a process of the service has exactly the rights of its pod. Resolves when the API server
 * knows those rights.
 */
export async function chartAccount(cluster: Cluster, install: ChartInstall): Promise<ChartAccount> {
  const { chart, namespace } = install;
  await installChart(cluster, install);
  const user = `system:serviceaccount:${namespace}:${chart}`;
  await untilGranted(cluster, chart, namespace, user);
  return { user, kubeconfig: await accountKubeconfig(cluster, namespace, chart) };
}

async function installChart(cluster: Cluster, { chart, namespace, values = [] }: ChartInstall): Promise<void> {
  const helm = await pinnedHelm();
  const folder = mkdtempSync(join(tmpdir(), `chart-${chart}-`));
  try {
    for (const name of ["lib", chart]) cpSync(join(CHARTS, name), join(folder, name), { recursive: true });
    const env = helmEnvironment(join(folder, "helm"), cluster.kubeconfig);
    await helmOutput(helm, ["dependency", "update", "--skip-refresh", join(folder, chart)], env);
    // Tests apply the CRDs themselves, before the chart.
    const set = ["crds.enabled=false", ...values].flatMap((value) => ["--set", value]);
    const place = ["-n", namespace, "--create-namespace"];
    await helmOutput(helm, ["upgrade", "--install", chart, join(folder, chart), ...place, ...set], env);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Binding {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly name: string; readonly namespace?: string }[];
}

/** The API server applies Roles and bindings a moment after they are written. */
async function untilGranted(cluster: Cluster, chart: string, namespace: string, user: string): Promise<void> {
  const kinds = "rolebindings,clusterrolebindings";
  const bindings = await list<Binding>(cluster, kinds, "-A", "-l", `app.kubernetes.io/name=${chart}`);
  const isOwn = ({ subjects = [] }: Binding) =>
    subjects.some((subject) => subject.name === chart && subject.namespace === namespace);
  for (const { metadata, roleRef } of bindings.filter(isOwn)) {
    const within = metadata.namespace === undefined ? [] : ["-n", metadata.namespace];
    const { rules } = await get<Role>(cluster, roleRef.kind, roleRef.name, ...within);
    const review = reviewOf(user, metadata.namespace, rules.at(-1));
    await waitUntil(`${user} to have the rights of ${metadata.name}`, async () => {
      const answer = await kubectl(cluster, ["create", "-f", "-", "-o", "json"], { input: JSON.stringify(review) });
      return (JSON.parse(answer) as { status: { allowed?: boolean } }).status.allowed === true ? undefined : answer;
    });
  }
}

/** A review of one right of a rule. kubectl's `auth can-i` does not support kinds that are not installed. */
function reviewOf(user: string, namespace: string | undefined, rule: Rule | undefined): object {
  const {
    verbs: [verb] = [],
    apiGroups: [group] = [],
    resources: [path = ""] = [],
    resourceNames: [name] = [],
  } = rule ?? {};
  const [resource, subresource] = path.split("/");
  return {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user, resourceAttributes: { verb, group, resource, subresource, name, namespace } },
  };
}
