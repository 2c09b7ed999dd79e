import type { Labels, PodShape } from "@evenkeel/placement";
import {
  type ClusterSnapshot,
  type DisruptionBudgetRow,
  NONE,
  type NodeRow,
  type OwnerRow,
  type PlanMemory,
  type PlanSnapshot,
  UNKNOWN,
} from "../decide/snapshot.ts";

// Small clusters for tests. Nodes have 10 cores and 10 GB unless told; loads are given as shares of that, so that a pod
// with load 0.2 raises such a node by 0.2.

export const NOW = Date.parse("2026-01-01T12:00:00Z");
const HOUR = 3_600_000;
export const CORES = 10_000;
export const BYTES = 10_000_000_000;

export interface PodSpec {
  readonly name?: string;
  readonly namespace?: string;
  readonly node: string | null;
  /** What it uses; null without a sample. */
  readonly load: number | null;
  /** What it requests; its load unless told. */
  readonly requested?: number;
  /** The name of its owner; each pod has one of its own unless told. Null for none. */
  readonly owner?: string | null;
  readonly labels?: Labels;
  readonly flags?: number;
  readonly priority?: number;
  readonly deletionCost?: number;
  readonly startedAt?: number;
  readonly readySince?: number;
  readonly emptyDirBytes?: number;
  readonly workloadKind?: string;
  readonly shape?: Partial<PodShape>;
}

export interface NodeSpec {
  readonly name: string;
  /** Times 10 cores and 10 GB. */
  readonly capacity?: number;
  /** What it uses beyond its pods; null without a sample. */
  readonly rest?: number | null;
  readonly labels?: Labels;
  readonly row?: Partial<NodeRow>;
}

export interface World {
  readonly nodes: readonly NodeSpec[];
  readonly pods: readonly PodSpec[];
  readonly owners?: Readonly<Record<string, Partial<OwnerRow>>>;
  readonly disruptionBudgets?: readonly Partial<DisruptionBudgetRow>[];
  readonly slos?: ClusterSnapshot["slos"];
  readonly nodeClasses?: ClusterSnapshot["nodeClasses"];
}

export const DEFAULT_POLICY: PlanSnapshot["policy"]["spec"] = {
  targetVariance: 0.15,
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
};

export const NO_MEMORY: PlanMemory = { levels: {}, lastMinute: 0, lastHour: {}, backOffs: [], inFlight: [] };

export function snapshotOf(
  world: World,
  policy: Partial<PlanSnapshot["policy"]["spec"]> = {},
  rest: Partial<Omit<PlanSnapshot, "policy" | "cluster">> = {},
): PlanSnapshot {
  return {
    at: NOW,
    policy: { name: "default", spec: { ...DEFAULT_POLICY, ...policy } },
    cluster: clusterOf(world),
    memory: null,
    budget: 100,
    emptyDirLimit: 2 * 2 ** 30,
    ...rest,
  };
}

function clusterOf({
  nodes,
  pods,
  owners = {},
  disruptionBudgets = [],
  slos = [],
  nodeClasses = [],
}: World): ClusterSnapshot {
  const named = pods.map((pod, index) => ({ ...pod, name: pod.name ?? `pod-${index}` }));
  const ownerNames = [...new Set(named.flatMap(({ owner, name }) => (owner === null ? [] : [owner ?? name])))];
  const workloadKinds = [...new Set(named.flatMap(({ workloadKind }) => workloadKind ?? []))];
  const column = (value: (pod: (typeof named)[number]) => number) => named.map(value);
  return {
    namespaces: {},
    nodes: nodes.map((node) => nodeRow(node, named)),
    shapes: named.map(shapeOf),
    owners: ownerNames.map((name) => ownerRow(name, named, owners[name] ?? {})),
    disruptionBudgets: disruptionBudgets.map(disruptionBudget),
    slos,
    nodeClasses,
    pods: {
      uid: named.map(({ name }) => `uid-${name}`),
      name: named.map(({ name }) => name),
      shape: [...named.keys()],
      node: column(({ node }) => (node === null ? NONE : nodes.findIndex(({ name }) => name === node))),
      owner: column(({ owner, name }) => (owner === null ? NONE : ownerNames.indexOf(owner ?? name))),
      priority: column(({ priority }) => priority ?? 0),
      deletionCost: column(({ deletionCost }) => deletionCost ?? 0),
      startedAt: column(({ startedAt }) => startedAt ?? NOW - HOUR),
      readySince: column(({ readySince }) => readySince ?? NOW - HOUR),
      cpuUsage: column(({ load }) => (load === null ? UNKNOWN : Math.round(load * CORES))),
      memoryUsage: column(({ load }) => (load === null ? UNKNOWN : Math.round(load * BYTES))),
      emptyDirBytes: column(({ emptyDirBytes }) => emptyDirBytes ?? 0),
      flags: column(({ flags }) => flags ?? 0),
      workloadKind: column(({ workloadKind }) =>
        workloadKind === undefined ? NONE : workloadKinds.indexOf(workloadKind),
      ),
      workloadKinds,
    },
  };
}

function nodeRow({ name, capacity = 1, rest = 0, labels = {}, row = {} }: NodeSpec, pods: readonly PodSpec[]): NodeRow {
  const used = pods.reduce((sum, { node, load }) => sum + (node === name ? Math.round((load ?? 0) * CORES) : 0), 0);
  const usedBytes = pods.reduce(
    (sum, { node, load }) => sum + (node === name ? Math.round((load ?? 0) * BYTES) : 0),
    0,
  );
  return {
    name,
    labels: { "kubernetes.io/hostname": name, ...labels },
    taints: [],
    unschedulable: false,
    allocatable: { cpu: capacity * CORES, memory: capacity * BYTES, pods: 110 },
    images: [],
    attachLimits: {},
    available: true,
    usage:
      rest === null ? null : { cpu: used + Math.round(rest * CORES), memory: usedBytes + Math.round(rest * BYTES) },
    ...row,
  };
}

function shapeOf({ namespace = "shop", labels = {}, load, requested = load ?? 0, shape = {} }: PodSpec): PodShape {
  const requests = { cpu: Math.round(requested * CORES), memory: Math.round(requested * BYTES) };
  return {
    namespace,
    labels,
    requests,
    scoredRequests: requests,
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
    ownerSelector: null,
    volumes: [],
    canPreempt: false,
    unmodelled: null,
    ...shape,
  };
}

function ownerRow(
  name: string,
  pods: readonly (PodSpec & { readonly name: string })[],
  row: Partial<OwnerRow>,
): OwnerRow {
  const own = pods.filter((pod) => (pod.owner ?? pod.name) === name);
  return {
    kind: "ReplicaSet",
    namespace: own[0]?.namespace ?? "shop",
    name,
    uid: `owner-${name}`,
    workload: { kind: "Deployment", name, uid: `workload-${name}` },
    replicas: Math.max(2, own.length),
    rollout: "steady",
    minReadySeconds: 0,
    ...row,
  };
}

function disruptionBudget(row: Partial<DisruptionBudgetRow>): DisruptionBudgetRow {
  return {
    namespace: "shop",
    name: "budget",
    selector: {},
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    alwaysAllowUnhealthy: false,
    isCurrent: true,
    ...row,
  };
}
