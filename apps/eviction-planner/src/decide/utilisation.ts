import { type ClusterSnapshot, NONE, type NodeRow, type PlanMemory, POD, UNKNOWN } from "./snapshot.ts";

export type Basis = "usage" | "requests";

export interface Weights {
  readonly cpu: number;
  readonly memory: number;
}

/** Why the load of a node is not known. A frozen node is no source, its pods stay, and it does not count in σ. */
export type FrozenReason = "NotAvailable" | "NoUsage" | "NoCapacity";

/**
 * How loaded each node is: the weighted share of its capacity that is used, or requested. Nodes whose load is known
 * have a slot, in the order of their names, so that sums do not depend on the order of the snapshot.
 */
export interface Utilisation {
  /** The slot of each node; NONE for frozen ones. */
  readonly slotOf: Int32Array;
  /** The node of each slot. */
  readonly nodeAt: Int32Array;
  /** The level of each slot. */
  readonly levels: Float64Array;
  readonly frozen: ReadonlyMap<number, FrozenReason>;
  /** What a pod contributes to the level of a node, by their rows; NaN where its load is unknown. */
  sizeOn(pod: number, node: number): number;
  /** What one milli-CPU and one byte contribute to the level of each slot. */
  readonly shares: readonly Load[];
  /** Milli-CPU and bytes of each pod, NaN where they are unknown. */
  readonly podLoads: Loads;
  /** Milli-CPU and bytes of each node. */
  readonly nodeLoads: Loads;
}

export interface Load {
  readonly cpu: number;
  readonly memory: number;
}

export interface Loads {
  readonly cpu: Float64Array;
  readonly memory: Float64Array;
}

export function utilisationOf(
  cluster: ClusterSnapshot,
  basis: Basis,
  weights: Weights,
  memory: PlanMemory | null,
): Utilisation {
  const { nodes, pods } = cluster;
  const shares = nodes.map((node) => sharesOf(node, weights));
  const frozen = new Map<number, FrozenReason>();
  for (const [index, node] of nodes.entries()) {
    const reason = whyFrozen(node, shares[index], basis);
    if (reason !== undefined) frozen.set(index, reason);
  }
  const nodeAt = Int32Array.from(
    [...nodes.keys()]
      .filter((node) => !frozen.has(node))
      .sort((a, b) => (nameOf(nodes, a) < nameOf(nodes, b) ? -1 : 1)),
  );
  const slotOf = new Int32Array(nodes.length).fill(NONE);
  nodeAt.forEach((node, slot) => (slotOf[node] = slot));

  const loads = podLoads(cluster, basis);
  const sizeOn = (pod: number, node: number): number => {
    const share = shares[node];
    return share === undefined
      ? NaN
      : (loads.cpu[pod] as number) * share.cpu + (loads.memory[pod] as number) * share.memory;
  };

  // Whole numbers are summed, so that the order of pods changes nothing.
  const [cpu, memoryBytes] = [new Float64Array(nodes.length), new Float64Array(nodes.length)];
  for (let pod = 0; pod < pods.uid.length; pod += 1) {
    const node = pods.node[pod] as number;
    if (node === NONE || ((pods.flags[pod] as number) & POD.terminating) !== 0) continue;
    if (Number.isNaN(loads.cpu[pod]) || Number.isNaN(loads.memory[pod])) continue;
    cpu[node] = (cpu[node] as number) + (loads.cpu[pod] as number);
    memoryBytes[node] = (memoryBytes[node] as number) + (loads.memory[pod] as number);
  }
  for (const { node, load, probability } of loadsInFlight(cluster, loads, memory)) {
    cpu[node] = (cpu[node] as number) + probability * load.cpu;
    memoryBytes[node] = (memoryBytes[node] as number) + probability * load.memory;
  }
  if (basis === "usage") addResiduals(cluster, cpu, memoryBytes);
  const levels = Float64Array.from(nodeAt, (node) => {
    const share = shares[node] as Load;
    return (cpu[node] as number) * share.cpu + (memoryBytes[node] as number) * share.memory;
  });
  return {
    slotOf,
    nodeAt,
    levels,
    frozen,
    sizeOn,
    shares: Array.from(nodeAt, (node) => shares[node] as Load),
    podLoads: loads,
    nodeLoads: { cpu, memory: memoryBytes },
  };
}

/** What one milli-CPU and one byte contribute to the level of a node; undefined without capacity. */
function sharesOf({ allocatable }: NodeRow, weights: Weights): Load | undefined {
  const [cpu, memory] = [allocatable["cpu"] ?? 0, allocatable["memory"] ?? 0];
  const sum = weights.cpu + weights.memory;
  if (!(cpu > 0 && memory > 0)) return undefined;
  return { cpu: weights.cpu / sum / cpu, memory: weights.memory / sum / memory };
}

function whyFrozen({ available, usage }: NodeRow, share: Load | undefined, basis: Basis): FrozenReason | undefined {
  if (!available) return "NotAvailable";
  if (share === undefined) return "NoCapacity";
  if (basis === "usage" && !(usage !== null && usage.cpu >= 0 && usage.memory >= 0)) return "NoUsage";
  return undefined;
}

/** The load of each pod; NaN where neither its own sample nor one of its siblings is known. */
function podLoads(cluster: ClusterSnapshot, basis: Basis): Loads {
  const { pods, shapes } = cluster;
  if (basis === "requests") {
    const requested = (resource: string) => {
      const ofShape = Float64Array.from(shapes, ({ requests }) => requests[resource] ?? 0);
      return new Float64Array(pods.uid.length).map((_, pod) => ofShape[pods.shape[pod] as number] as number);
    };
    return { cpu: requested("cpu"), memory: requested("memory") };
  }
  return { cpu: orOwnersMean(cluster, pods.cpuUsage), memory: orOwnersMean(cluster, pods.memoryUsage) };
}

function orOwnersMean({ pods, owners }: ClusterSnapshot, usage: ArrayLike<number>): Float64Array {
  const [sums, counts] = [new Float64Array(owners.length), new Int32Array(owners.length)];
  for (let pod = 0; pod < pods.uid.length; pod += 1) {
    const owner = pods.owner[pod] as number;
    if (owner === NONE || !isKnown(usage[pod] as number)) continue;
    sums[owner] = (sums[owner] as number) + (usage[pod] as number);
    counts[owner] = (counts[owner] as number) + 1;
  }
  return new Float64Array(pods.uid.length).map((_, pod) => {
    const own = usage[pod] as number;
    const owner = pods.owner[pod] as number;
    if (isKnown(own)) return own;
    return owner === NONE || counts[owner] === 0
      ? NaN
      : Math.round((sums[owner] as number) / (counts[owner] as number));
  });
}

function isKnown(usage: number): boolean {
  return usage !== UNKNOWN && usage >= 0;
}

/** Adds what a node uses beyond its pods' samples: system daemons. It stays, whatever is moved. */
function addResiduals({ nodes, pods }: ClusterSnapshot, cpu: Float64Array, memory: Float64Array): void {
  const restOfCpu = Float64Array.from(nodes, ({ usage }) => usage?.cpu ?? 0);
  const restOfMemory = Float64Array.from(nodes, ({ usage }) => usage?.memory ?? 0);
  for (let pod = 0; pod < pods.uid.length; pod += 1) {
    const node = pods.node[pod] as number;
    if (node === NONE) continue;
    restOfCpu[node] = (restOfCpu[node] as number) - Math.max(0, pods.cpuUsage[pod] as number);
    restOfMemory[node] = (restOfMemory[node] as number) - Math.max(0, pods.memoryUsage[pod] as number);
  }
  for (let node = 0; node < nodes.length; node += 1) {
    cpu[node] = (cpu[node] as number) + Math.max(0, restOfCpu[node] as number);
    memory[node] = (memory[node] as number) + Math.max(0, restOfMemory[node] as number);
  }
}

interface LoadInFlight {
  readonly node: number;
  readonly load: Load;
  readonly probability: number;
}

/**
 * Load that is on its way: evictions whose replacement is not on a node yet. A replacement that is there already, and
 * not ready, is a pod of the snapshot and counts as one.
 */
function* loadsInFlight(
  { nodes, owners, pods, shapes }: ClusterSnapshot,
  loads: Loads,
  memory: PlanMemory | null,
): Generator<LoadInFlight> {
  if (memory === null || memory.inFlight.length === 0) return;
  const nodeOf = new Map(nodes.map(({ name }, index) => [name, index]));
  const ownerOf = new Map(owners.map(({ uid }, index) => [uid, index]));
  const arrived = new Map<number, number>();
  const sample = new Map<number, Load>();
  for (let pod = 0; pod < pods.uid.length; pod += 1) {
    const owner = pods.owner[pod] as number;
    if (((pods.flags[pod] as number) & POD.terminating) !== 0 || pods.node[pod] === NONE) continue;
    if (pods.readySince[pod] === UNKNOWN) arrived.set(owner, (arrived.get(owner) ?? 0) + 1);
    sample.set(owner, { cpu: loads.cpu[pod] as number, memory: loads.memory[pod] as number });
  }
  for (const { owner: uid, shape, expected } of memory.inFlight) {
    const owner = ownerOf.get(uid) ?? NONE;
    const here = arrived.get(owner) ?? 0;
    if (here > 0) {
      arrived.set(owner, here - 1);
      continue;
    }
    const requests = shapes[shape]?.requests;
    const load = sample.get(owner) ?? { cpu: requests?.["cpu"] ?? 0, memory: requests?.["memory"] ?? 0 };
    if (Number.isNaN(load.cpu) || Number.isNaN(load.memory)) continue;
    for (const { node: name, probability } of expected) {
      const node = nodeOf.get(name);
      if (node !== undefined) yield { node, load, probability };
    }
  }
}

function nameOf(nodes: readonly NodeRow[], index: number): string {
  return nodes[index]?.name ?? "";
}
