import { Agent } from "node:https";
import type { CertificateFiles } from "./certificates.ts";
import { requestLoopback } from "./loopback-request.ts";
import { nodeManifest, type NodeShape, type NodeStatus, whyNodeNotReady } from "./nodes.ts";
import { waitUntil } from "./wait.ts";

/** How many connections create nodes at the same time. */
const CONNECTIONS = 4;

/** How much longer than the first each further node may take, in milliseconds. */
const MS_PER_NODE = 200;

export interface SeedOptions {
  readonly server: string;
  readonly caFile: string;
  /** Must be an administrator. */
  readonly client: CertificateFiles;
  readonly count: number;
  readonly shape: NodeShape;
  readonly deadlineMs: number;
}

/** Creates the nodes and resolves when they take pods, and pods of the namespace `default` can be created. */
export async function seedCluster(options: SeedOptions): Promise<void> {
  const { server, caFile, client, count, shape, deadlineMs } = options;
  await createNodes(
    options,
    Array.from({ length: count }, (_, index) => nodeManifest(index, shape)),
  );

  const get = async (path: string): Promise<unknown> => {
    const { status, body } = await requestLoopback({ url: server + path, caFile, client });
    if (status !== 200) throw new Error(`GET ${path} answers ${status}: ${body}`);
    return JSON.parse(body);
  };
  const whyNodesNotReady = async (): Promise<string | undefined> => {
    const { items } = (await get("/api/v1/nodes")) as { items: NodeStatus[] };
    const waiting = items.flatMap((node) => {
      const reason = whyNodeNotReady(node);
      return reason === undefined ? [] : [`${node.metadata.name}: ${reason}`];
    });
    return waiting.length === 0 ? undefined : `${waiting.length} of ${items.length} wait, such as ${waiting[0] ?? ""}`;
  };
  await waitUntil("nodes are ready", whyNodesNotReady, { deadlineMs: deadlineMs + count * MS_PER_NODE });

  // Admission refuses pods until the controller manager has made the service account that they run as.
  const whyNoServiceAccount = async (): Promise<undefined> => {
    await get("/api/v1/namespaces/default/serviceaccounts/default");
  };
  await waitUntil("service account default/default exists", whyNoServiceAccount, { deadlineMs });
}

async function createNodes({ server, caFile, client }: SeedOptions, nodes: readonly object[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const url = `${server}/api/v1/nodes`;
  try {
    await Promise.all(
      nodes.map(async (body, index) => {
        const response = await requestLoopback({ url, method: "POST", body, caFile, client, agent });
        if (response.status !== 201) throw new Error(`node ${index} was not created: ${response.body}`);
      }),
    );
  } finally {
    agent.destroy();
  }
}
