import type { PlanSnapshot } from "@evenkeel/eviction-planner/plan";
import type { Holdings } from "@evenkeel/scoring";

/** Pods of one node on average, as large clusters have them. */
const PODS_PER_NODE = 30;
/** Pods of one Deployment on average. */
const REPLICAS = 50;
const CORES = 24_000;
const BYTES = 88 * 2 ** 30;
const NOW = Date.parse("2026-01-01T12:00:00Z");
const HOUR = 3_600_000;

/** Numbers from 0 to 1, the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * A cluster that was extended late: a third of its nodes is hot, a third is nearly empty. Usage is half to twice of
 * what is requested. Deployments spread over nodes by the scheduler's default constraints; four of five namespaces have
 * disruption budgets.
 */
export function largeCluster(nodeCount: number, moves: number): PlanSnapshot {
  const random = randomNumbers(nodeCount);
  const podCount = nodeCount * PODS_PER_NODE;
  const ownerCount = Math.ceil(podCount / REPLICAS);
  const owners = Array.from({ length: ownerCount }, (_, index) => ({
    cpu: Math.round(200 + 800 * random() ** 3),
    memory: Math.round((0.5 + 3 * random() ** 3) * 2 ** 30),
    habit: 0.5 + 1.5 * random(),
    namespace: `team-${index % 100}`,
    name: `app-${index}`,
    replicas: 0,
  }));
  const rows = Array.from({ length: podCount }, () => {
    const owner = Math.floor(random() * ownerCount);
    const own = owners[owner];
    if (own !== undefined) own.replicas += 1;
    const node = nodeFor(random, nodeCount);
    const noise = (own?.habit ?? 1) * (0.8 + 0.4 * random());
    return { owner, node, cpu: Math.round((own?.cpu ?? 0) * noise), memory: Math.round((own?.memory ?? 0) * noise) };
  });
  const used = { cpu: new Float64Array(nodeCount).fill(300), memory: new Float64Array(nodeCount).fill(2 ** 30) };
  for (const { node, cpu, memory } of rows) {
    used.cpu[node] = (used.cpu[node] ?? 0) + cpu;
    used.memory[node] = (used.memory[node] ?? 0) + memory;
  }
  return {
    at: NOW,
    policy: {
      name: "default",
      spec: {
        targetVariance: 0.15,
        targetSigma: 0.01,
        hotThreshold: 0.8,
        coldThreshold: 0.5,
        hysteresis: 0.05,
        maxEvictionsPerMinute: 3,
        resourceWeights: { cpu: 0.7, memory: 0.3 },
        basis: "usage",
        respectPodPriority: true,
        respectPDB: true,
        dryRun: true,
        backoffDuration: "15m",
      },
    },
    memory: null,
    budget: moves,
    emptyDirLimit: 2 * 2 ** 30,
    cluster: {
      namespaces: {},
      nodes: Array.from({ length: nodeCount }, (_, node) => ({
        name: `node-${node}`,
        labels: { "kubernetes.io/hostname": `node-${node}`, "topology.kubernetes.io/zone": `zone-${node % 3}` },
        taints: [],
        unschedulable: false,
        allocatable: { cpu: CORES, memory: BYTES, pods: 110 },
        images: [],
        attachLimits: {},
        available: true,
        usage: { cpu: used.cpu[node] ?? 0, memory: used.memory[node] ?? 0 },
      })),
      shapes: owners.map(({ namespace, name, cpu, memory }) => ({
        namespace,
        labels: { app: name },
        requests: { cpu, memory },
        scoredRequests: { cpu, memory },
        hostPorts: [],
        images: [],
        containers: 1,
        nodeName: null,
        nodeSelector: {},
        requiredNodes: null,
        preferredNodes: [],
        tolerations: [],
        affinity: { required: [], preferred: [] },
        antiAffinity: { required: [], preferred: [] },
        spread: [],
        ownerSelector: { matchLabels: { app: name } },
        volumes: [],
        canPreempt: true,
        unmodelled: null,
      })),
      owners: owners.map(({ namespace, name, replicas }) => ({
        kind: "ReplicaSet",
        namespace,
        name: `${name}-1`,
        uid: `owner-${name}`,
        workload: { kind: "Deployment", name, uid: `workload-${name}` },
        replicas,
        rollout: "steady",
        minReadySeconds: 0,
      })),
      disruptionBudgets: owners.slice(0, Math.ceil((ownerCount * 2) / 3)).map(({ namespace, name, replicas }) => ({
        namespace,
        name,
        selector: { matchLabels: { app: name } },
        disruptionsAllowed: Math.ceil(replicas / 20),
        currentHealthy: replicas,
        desiredHealthy: replicas - Math.ceil(replicas / 20),
        alwaysAllowUnhealthy: false,
        isCurrent: true,
      })),
      slos: [],
      nodeClasses: [],
      pods: {
        uid: rows.map((_, pod) => `00000000-0000-4000-8000-${pod.toString(16).padStart(12, "0")}`),
        name: rows.map(({ owner }, pod) => `app-${owner}-1-${pod.toString(36)}`),
        shape: Int32Array.from(rows, ({ owner }) => owner),
        node: Int32Array.from(rows, ({ node }) => node),
        owner: Int32Array.from(rows, ({ owner }) => owner),
        priority: new Int32Array(podCount),
        deletionCost: new Int32Array(podCount),
        startedAt: new Float64Array(podCount).fill(NOW - HOUR),
        readySince: new Float64Array(podCount).fill(NOW - HOUR),
        cpuUsage: Float64Array.from(rows, ({ cpu }) => cpu),
        memoryUsage: Float64Array.from(rows, ({ memory }) => memory),
        emptyDirBytes: new Float64Array(podCount),
        flags: new Int32Array(podCount),
        workloadKind: new Int32Array(podCount).fill(-1),
        workloadKinds: [],
      },
    },
  };
}

/** Two thirds of the nodes have most of the pods. */
function nodeFor(random: () => number, nodeCount: number): number {
  const third = Math.floor(nodeCount / 3);
  const chance = random();
  if (chance < 0.5) return Math.floor(random() * third);
  if (chance < 0.9) return third + Math.floor(random() * third);
  return Math.min(nodeCount - 1, 2 * third + Math.floor(random() * (nodeCount - 2 * third)));
}

/** What the bound on σ is computed from, if every pod may be moved. */
export function holdingsOf({ cluster }: PlanSnapshot): Holdings {
  const { nodes, pods } = cluster;
  const sizes = nodes.map((): number[] => []);
  const sizeOf = (pod: number) =>
    (0.7 * (pods.cpuUsage[pod] ?? 0)) / CORES + (0.3 * (pods.memoryUsage[pod] ?? 0)) / BYTES;
  pods.uid.forEach((_, pod) => sizes[pods.node[pod] ?? 0]?.push(sizeOf(pod)));
  const offsets = [0];
  for (const own of sizes) {
    own.sort((a, b) => b - a);
    offsets.push((offsets.at(-1) ?? 0) + own.length);
  }
  const levels = nodes.map(({ usage }) => (0.7 * (usage?.cpu ?? 0)) / CORES + (0.3 * (usage?.memory ?? 0)) / BYTES);
  return {
    levels: Float64Array.from(levels),
    offsets: Int32Array.from(offsets),
    sizes: Float64Array.from(sizes.flat()),
  };
}
