import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient } from "@evenkeel/kube";
import type { KubeHarness } from "@evenkeel/kube/contract";
import { startApiServer } from "@evenkeel/sim";
import { ADMIN, kubeconfigFor } from "@evenkeel/testkit";

/** Brings up the embedded API server for the Kubernetes contract. */
export async function startSimServer(): Promise<KubeHarness> {
  const server = await startApiServer({ users: [ADMIN] });
  const folder = await mkdtemp(join(tmpdir(), "evenkeel-contract-"));
  const clients: KubeClient[] = [];
  const connect = async (name: string, token: string): Promise<KubeClient> => {
    const kubeconfig = join(folder, `${name}.kubeconfig`);
    await writeFile(kubeconfig, kubeconfigFor(server.url, { token }), { mode: 0o600 });
    const settings = {
      ...{ kubeconfig, kubeContext: undefined, kubeDeadline: 30_000 },
      ...{ kubeConnections: 4, kubeQps: 0, kubeBurst: 1 },
    };
    const client = connectKube({ settings, env: {}, userAgent: "evenkeel-contract/1" });
    clients.push(client);
    return client;
  };
  const admin = await connect(ADMIN.name, ADMIN.token);
  return {
    client: async (user) => {
      if (user === undefined) return admin;
      server.addUser({ name: user, token: `${user}-token` });
      return connect(user, `${user}-token`);
    },
    stranger: () => connect("stranger", "unknown"),
    expire: () => {
      server.compact();
      return Promise.resolve();
    },
    stop: async () => {
      await Promise.all(clients.map((client) => client.stop()));
      await rm(folder, { recursive: true });
      await server.stop();
    },
  };
}
