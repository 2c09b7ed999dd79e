import { type ClusterAccess, type KubectlOptions, waitUntil } from "@evenkeel/control-plane";

/** The fields of every object that tests read; `T` has those of its kind. */
export type KubeObject<T = unknown> = T & {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string };
};

/** Runs kubectl, which must succeed, and returns its output. */
export async function kubectl(
  cluster: ClusterAccess,
  args: readonly string[],
  options?: KubectlOptions,
): Promise<string> {
  const { stdout, stderr, code } = await cluster.kubectl(args, options);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")} ended with code ${code}: ${stderr}`);
  return stdout;
}

/** Applies objects as `kubectl apply` does. */
export async function apply(cluster: ClusterAccess, ...objects: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await kubectl(cluster, ["apply", "-f", "-"], { input });
}

/** One object: `get(cluster, "deployment", "web")`. Further arguments are passed to kubectl. */
export async function get<T>(
  cluster: ClusterAccess,
  kind: string,
  name: string,
  ...args: string[]
): Promise<KubeObject<T>> {
  return JSON.parse(await kubectl(cluster, ["get", kind, name, "-o", "json", ...args])) as KubeObject<T>;
}

/** Objects of a kind: `list(cluster, "pods", "-l", "app=web")`. */
export async function list<T>(cluster: ClusterAccess, kind: string, ...args: string[]): Promise<KubeObject<T>[]> {
  const answer = JSON.parse(await kubectl(cluster, ["get", kind, "-o", "json", ...args])) as { items: KubeObject<T>[] };
  return answer.items;
}

interface Definition {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * Applies definitions of custom resources and resolves when all of the cluster are served. `kubectl wait` fails where a
 * definition has no conditions yet.
 */
export async function applyDefinitions(cluster: ClusterAccess, text: string): Promise<void> {
  await kubectl(cluster, ["apply", "-f", "-"], { input: text });
  await waitUntil("definitions to be established", async () => {
    const waiting = (await list<Definition>(cluster, "crds")).filter(
      ({ status }) => !status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True"),
    );
    return waiting.length === 0 ? undefined : waiting.map(({ metadata }) => metadata.name).join();
  });
}
