import { eventually } from "@evenkeel/runtime/testing";
import { controlPlane, simNode, workloads } from "@evenkeel/sim";
import { ADMIN, type World } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { load, metric, policy, read } from "./hot-spot.ts";
import { plannerWorld } from "./planner-world.ts";

const NODES = ["a", "b", "c", "d"];
/** Plans after which a cluster counts as left alone. */
const ROUNDS = 4;

interface Placed {
  readonly node: string;
  /** Cores of a node's four. Requests are those of the usage unless told. */
  readonly used: number;
  readonly requested?: number;
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

function workload({ used, requested = used, nodeSelector }: Placed, name: string): object {
  const labels = { app: name };
  const resources = { requests: { cpu: `${requested}`, memory: `${2 * requested}Gi` } };
  const annotations = { "kwok.x-k8s.io/usage-cpu": `${used}`, "kwok.x-k8s.io/usage-memory": `${2 * used}Gi` };
  const spec = { ...(nodeSelector && { nodeSelector }), containers: [{ name: "main", image: "berth:1", resources }] };
  return {
    ...{ apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name, namespace: "default" } },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec } },
  };
}

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly nodeName?: string };
    readonly status: { readonly phase: string };
  }[];
}

const PODS = "api/v1/namespaces/default/pods";

/** Each node joins when those before it have their pods, so that the scheduler places the next pods on it. */
async function place(world: World, pods: readonly Placed[]): Promise<void> {
  const nodes: string[] = [];
  for (const node of NODES) {
    load(world, measuredNode(node));
    for (const pod of pods.filter((each) => each.node === node)) {
      load(world, workload(pod, `berth-${nodes.push(node)}`));
      await eventually(async () => {
        const { items } = await read<Pods>(world, PODS);
        const running = items.filter(({ status }) => status.phase === "Running");
        expect(running.map(({ spec }) => spec.nodeName).sort()).toEqual(nodes);
      }, 20_000);
    }
  }
  // Usage of a pod counts two minutes after its start.
  const startTime = new Date(Date.now() - 3_600_000).toISOString();
  const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ status: { startTime } });
  for (const { metadata } of (await read<Pods>(world, PODS)).items) {
    await fetch(`${world.api.url}/${PODS}/${metadata.name}/status`, { method: "PATCH", headers, body });
  }
}

/** A node that runs nothing is measured too. */
function measuredNode(name: string): object {
  const node = simNode(name, { cpu: "4", memory: "8Gi" });
  const annotations = { "kwok.x-k8s.io/usage-cpu": "0", "kwok.x-k8s.io/usage-memory": "0" };
  return { ...node, metadata: { ...node.metadata, annotations } };
}

/** Evictions that the service asked for in its first plans, and in as many after them. */
async function evictionsOf(pods: readonly Placed[]): Promise<readonly [number, number]> {
  const evictions: string[] = [];
  const server = {
    behaviours: [...controlPlane, ...workloads({ startDelay: 50, terminationDelay: 50 })],
    audit: ({ method, url }: { readonly method: string; readonly url: string }) => {
      if (method === "POST" && url.includes("/eviction")) evictions.push(url);
    },
  };
  await using world = await plannerWorld(server);
  await place(world, pods);
  load(world, policy("default", { dryRun: false, targetSigma: 0.001, maxEvictionsPerMinute: 100 }));
  const service = world.serve(["--sync-period=200ms"]);
  const planned = (count: number) =>
    eventually(async () => {
      expect(await metric(service, /^rebalancer_plan_seconds_count (\d+)$/m)).toBeGreaterThan(count);
      expect(await metric(service, /^rebalancer_sigma\{name="default"\} (.+)$/m)).not.toBeNaN();
    }, 60_000);
  await planned(ROUNDS);
  const first = evictions.length;
  await planned(2 * ROUNDS);
  return [first, evictions.length - first];
}

test.concurrent.each<[string, readonly Placed[]]>([
  [
    "one giant pod makes any node hot",
    [{ node: "a", used: 3.6 }, ...["b", "c", "d"].map((node) => ({ node, used: 0.8 }))],
  ],
  [
    "only one node is feasible",
    [1.2, 1.2, 1.2].map((used) => ({ node: "a", used, nodeSelector: { "kubernetes.io/hostname": "a" } })),
  ],
  [
    "the scheduler prefers the hot node, because its pods request little",
    [
      ...[1.2, 1.2, 1.2].map((used) => ({ node: "a", used, requested: 0.04 })),
      ...["b", "c", "d"].map((node) => ({ node, used: 0.4, requested: 3.2 })),
    ],
  ],
  ["all nodes are equally hot", NODES.flatMap((node) => [2, 1.6].map((used) => ({ node, used })))],
])(
  "the service evicts nothing where %s",
  async (_sentence, pods) => expect(await evictionsOf(pods)).toEqual([0, 0]),
  120_000,
);

test.concurrent(
  "the service moves one pod where that makes all nodes equal, and nothing after it",
  async () => {
    const pods = ["a", "a", "b", "c"].map((node) => ({ node, used: 1 }));
    expect(await evictionsOf(pods)).toEqual([1, 0]);
  },
  120_000,
);
