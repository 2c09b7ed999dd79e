// A process that answers LISTs as the kube-apiserver and the metrics-server of a large cluster do. It says its port.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { samplePod } from "../kube/pod.ts";
import { largeCluster } from "./scene.ts";

const { cluster } = largeCluster(Number(process.argv[2]), 1);
const { nodes, owners, pods, shapes, disruptionBudgets } = cluster;
const started = new Date(Date.now() - 3_600_000).toISOString();
const usage = (cpu = 0, memory = 0) => ({ cpu: `${cpu}m`, memory: String(memory) });
const measured = () => ({ timestamp: new Date().toISOString(), window: "15s" });
const controller = (kind: string, name: string, uid: string) => [
  { apiVersion: "apps/v1", kind, name, uid, controller: true },
];

interface Listed {
  readonly kind: string;
  readonly count: number;
  readonly item: (index: number) => object;
}

const LISTS: Readonly<Record<string, Listed>> = {
  "/api/v1/nodes": { kind: "Node", count: nodes.length, item: nodeAt },
  "/api/v1/pods": { kind: "Pod", count: pods.uid.length, item: podAt },
  "/apis/apps/v1/deployments": { kind: "Deployment", count: owners.length, item: deploymentAt },
  "/apis/apps/v1/replicasets": { kind: "ReplicaSet", count: owners.length, item: replicaSetAt },
  "/apis/policy/v1/poddisruptionbudgets": {
    kind: "PodDisruptionBudget",
    count: disruptionBudgets.length,
    item: budgetAt,
  },
  "/apis/metrics.k8s.io/v1beta1/nodes": {
    kind: "NodeMetrics",
    count: nodes.length,
    item: (node) => ({
      metadata: { name: nodes[node]?.name },
      usage: usage(nodes[node]?.usage?.cpu, nodes[node]?.usage?.memory),
      ...measured(),
    }),
  },
  "/apis/metrics.k8s.io/v1beta1/pods": {
    kind: "PodMetrics",
    count: pods.uid.length,
    item: (pod) => ({
      metadata: nameOf(pod),
      containers: [{ name: "main", usage: usage(pods.cpuUsage[pod], pods.memoryUsage[pod]) }],
      ...measured(),
    }),
  },
};

function nameOf(pod: number): { readonly namespace: string; readonly name: string } {
  return { namespace: shapes[pods.shape[pod] ?? 0]?.namespace ?? "", name: pods.name[pod] ?? "" };
}

function nodeAt(node: number): object {
  const { name = "", labels = {}, allocatable = {} } = nodes[node] ?? {};
  const amounts = { cpu: `${allocatable["cpu"]}m`, memory: String(allocatable["memory"]), pods: "110" };
  return {
    metadata: { name, labels },
    spec: {},
    status: { allocatable: amounts, conditions: [{ type: "Ready", status: "True" }] },
  };
}

/** As large as pods are, with most of it of no use to a plan. */
function podAt(pod: number): object {
  const sample = samplePod(pod) as { metadata: object; spec: { containers: object[] }; status: object };
  const [shape, owner] = [shapes[pods.shape[pod] ?? 0], owners[pods.owner[pod] ?? 0]];
  const requests = usage(shape?.requests["cpu"], shape?.requests["memory"]);
  return {
    metadata: {
      ...sample.metadata,
      ...nameOf(pod),
      uid: pods.uid[pod],
      labels: shape?.labels,
      ownerReferences: controller("ReplicaSet", owner?.name ?? "", owner?.uid ?? ""),
    },
    spec: {
      ...sample.spec,
      nodeName: nodes[pods.node[pod] ?? 0]?.name,
      containers: sample.spec.containers.map((one) => ({
        ...one,
        image: "images.invalid/main:1",
        resources: { requests },
      })),
    },
    status: {
      ...sample.status,
      startTime: started,
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: started }],
    },
  };
}

function deploymentAt(index: number): object {
  const { namespace, replicas, workload } = owners[index] ?? {};
  return {
    metadata: { namespace, name: workload?.name, uid: workload?.uid, generation: 1 },
    spec: { replicas },
    status: { observedGeneration: 1, replicas, updatedReplicas: replicas },
  };
}

function replicaSetAt(index: number): object {
  const { namespace, name, uid, replicas, workload } = owners[index] ?? {};
  const ownerReferences = controller("Deployment", workload?.name ?? "", workload?.uid ?? "");
  return {
    metadata: { namespace, name, uid, generation: 1, ownerReferences },
    spec: { replicas, selector: { matchLabels: { app: workload?.name } } },
    status: { observedGeneration: 1 },
  };
}

function budgetAt(index: number): object {
  const { namespace, name, selector, disruptionsAllowed, currentHealthy, desiredHealthy } =
    disruptionBudgets[index] ?? {};
  return {
    metadata: { namespace, name, generation: 1 },
    spec: { selector },
    status: {
      observedGeneration: 1,
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods: currentHealthy,
    },
  };
}

/** Items of one answer that are written at once. */
const AT_ONCE = 500;

async function list(answer: ServerResponse, { kind, count, item }: Listed, query: URLSearchParams): Promise<void> {
  const from = Number(query.get("continue") ?? 0);
  const to = Math.min(count, from + Number(query.get("limit") ?? count));
  const rest = to < count ? `,"continue":"${to}"` : "";
  answer.write(`{"apiVersion":"v1","kind":"${kind}List","metadata":{"resourceVersion":"1"${rest}},"items":[`);
  for (let at = from; at < to; at += AT_ONCE) {
    const items = Array.from({ length: Math.min(to - at, AT_ONCE) }, (_, index) => JSON.stringify(item(at + index)));
    const isFlushed = answer.write((at === from ? "" : ",") + items.join(","));
    if (!isFlushed) await new Promise((resolve) => answer.once("drain", resolve));
  }
  answer.end("]}");
}

const server = createServer((request, answer) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://server");
  answer.setHeader("content-type", "application/json");
  if (pathname === "/version") answer.end('{"major":"1","minor":"36","gitVersion":"v1.36.3"}');
  else void list(answer, LISTS[pathname] ?? { kind: "Object", count: 0, item: () => ({}) }, searchParams);
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
