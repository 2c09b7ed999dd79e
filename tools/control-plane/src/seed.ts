import { chmodSync, mkdirSync } from "node:fs";
import { Agent } from "node:https";
import type { CertificateFiles } from "./certificates.ts";
import { requestLoopback } from "./loopback-request.ts";
import { clusterDns, DNS_PATH } from "./node/cluster-dns.ts";
import { nodeManifest, type NodeShape, type NodeStatus, whyNodeNotReady } from "./nodes.ts";
import type { RunFolder } from "./run-folder.ts";
import { storageObjects } from "./storage.ts";
import { waitUntil } from "./wait.ts";

/** Number of connections that create objects. */
const CONNECTIONS = 4;

/** Additional milliseconds for each further node. */
const MS_PER_NODE = 200;

export interface SeedOptions {
  readonly server: string;
  readonly caFile: string;
  /** Of an administrator. */
  readonly client: CertificateFiles;
  readonly folder: RunFolder;
  /** KWOK nodes to create, or the real node, which creates itself. */
  readonly nodes: { readonly count: number; readonly shape: NodeShape } | "real";
  readonly deadlineMs: number;
}

/**
 * Resolves when the nodes accept pods, pods of the namespace `default` can be created, and names are resolved on a real
 * node.
 */
export async function seedCluster(options: SeedOptions): Promise<void> {
  const { nodes, folder, deadlineMs } = options;
  const count = nodes === "real" ? 1 : nodes.count;
  await create(options, [
    ...storageObjects((volume) => volumeFolder(folder, volume)),
    ...(nodes === "real" ? clusterDns() : kwokNodes(nodes.count, nodes.shape)),
  ]);

  const whyNodesNotReady = async (): Promise<string | undefined> => {
    const { items } = await get<{ items: NodeStatus[] }>(options, "/api/v1/nodes");
    if (items.length < count) return `${items.length} of ${count} nodes exist`;
    const waiting = items.flatMap((node) => {
      const reason = whyNodeNotReady(node);
      return reason === undefined ? [] : [`${node.metadata.name}: ${reason}`];
    });
    return waiting.length === 0 ? undefined : `${waiting.length} of ${items.length} wait, such as ${waiting[0] ?? ""}`;
  };
  await waitUntil("nodes are ready", whyNodesNotReady, { deadlineMs: deadlineMs + count * MS_PER_NODE });

  // Admission refuses pods until the controller manager has created their service account.
  const whyNoServiceAccount = async (): Promise<undefined> => {
    await get(options, "/api/v1/namespaces/default/serviceaccounts/default");
  };
  await waitUntil("service account default/default exists", whyNoServiceAccount, { deadlineMs });
  if (nodes !== "real") return;

  const whyNoNames = async (): Promise<string | undefined> => {
    const { status } = await get<{ status: { readyReplicas?: number } }>(options, DNS_PATH);
    return (status.readyReplicas ?? 0) > 0 ? undefined : `the Deployment's status is ${JSON.stringify(status)}`;
  };
  await waitUntil("CoreDNS is ready", whyNoNames, { deadlineMs });
}

/** A folder to which the unprivileged user of a container can write. */
function volumeFolder(folder: RunFolder, volume: string): string {
  const path = folder.file("volumes", volume);
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  return path;
}

interface NewObject {
  /** The path of its collection. */
  readonly path: string;
  readonly body: object;
}

function kwokNodes(count: number, shape: NodeShape): NewObject[] {
  return Array.from({ length: count }, (_, index) => ({ path: "/api/v1/nodes", body: nodeManifest(index, shape) }));
}

async function get<T>({ server, caFile, client }: SeedOptions, path: string): Promise<T> {
  const { status, body } = await requestLoopback({ url: server + path, caFile, client });
  if (status !== 200) throw new Error(`GET ${path} answers ${status}: ${body}`);
  return JSON.parse(body) as T;
}

async function create({ server, caFile, client }: SeedOptions, objects: readonly NewObject[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    await Promise.all(
      objects.map(async ({ path, body }) => {
        const response = await requestLoopback({ url: server + path, method: "POST", body, caFile, client, agent });
        if (response.status !== 201) throw new Error(`POST ${path} answers ${response.status}: ${response.body}`);
      }),
    );
  } finally {
    agent.destroy();
  }
}
