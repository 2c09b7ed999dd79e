import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClusterOptions, startCluster } from "@evenkeel/control-plane";
import { configMaps, connectKube, type KubeClient, kubeErrors, namespaces } from "@evenkeel/kube";
import type { KubeHarness } from "@evenkeel/kube/contract";
import { kubeconfigFor } from "@evenkeel/testkit";

/**
 * How often kube-apiserver has etcd forget, in seconds. A continue token lives at least this long and at most twice as
 * long.
 */
const COMPACTION = 4;

/** How long a busy machine may take to get there, in milliseconds. */
const EXPIRY = 75_000;

/** Brings up a real control plane for the Kubernetes contract. */
export async function startApiServer(options: ClusterOptions = {}): Promise<KubeHarness> {
  const cluster = await startCluster({
    ...options,
    apiserverFlags: [`--etcd-compaction-interval=${COMPACTION}s`, ...(options.apiserverFlags ?? [])],
  });
  const folder = await mkdtemp(join(tmpdir(), "evenkeel-contract-"));
  const clients: KubeClient[] = [];
  const connect = (kubeconfig: string): KubeClient => {
    const settings = {
      ...{ kubeconfig, kubeContext: undefined, kubeDeadline: 30_000 },
      ...{ kubeConnections: 4, kubeQps: 0, kubeBurst: 1 },
    };
    const client = connectKube({ settings, env: {}, userAgent: "evenkeel-contract/1" });
    clients.push(client);
    return client;
  };
  const admin = connect(cluster.kubeconfig);
  return {
    client: async (user) => (user === undefined ? admin : connect(await cluster.kubeconfigFor({ user }))),
    stranger: async () => {
      const file = join(folder, "stranger.kubeconfig");
      await writeFile(file, kubeconfigFor(cluster.server, { token: "unknown", authority: cluster.caFile }), {
        mode: 0o600,
      });
      return connect(file);
    },
    expire: () => waitUntilExpired(admin),
    stop: async () => {
      await Promise.all(clients.map((client) => client.stop()));
      await rm(folder, { recursive: true });
      await cluster.stop();
    },
  };
}

/** Takes a continue token now and waits for its end: those that were given out before have ended by then. */
async function waitUntilExpired(admin: KubeClient): Promise<void> {
  const { continue: token } = await admin.resource(namespaces).list({ limit: 1 });
  const began = performance.now();
  for (;;) {
    try {
      await admin.resource(namespaces).list({ limit: 1, continue: token });
    } catch (error) {
      if (error instanceof kubeErrors.Gone) return;
      throw error;
    }
    if (performance.now() - began > EXPIRY) throw new Error(`a continue token did not expire within ${EXPIRY} ms`);
    // Compaction goes on with writes only.
    await admin
      .resource(configMaps)
      .apply(
        { metadata: { namespace: "default", name: "contract-clock" }, data: { at: String(performance.now()) } },
        { fieldManager: "contract", force: true },
      );
    await sleep(100);
  }
}
