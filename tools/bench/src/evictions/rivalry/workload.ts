/** How pods differ in size. */
export type Sizes = "equal" | "uniform" | "lognormal";

/** A ReplicaSet. All its pods have the same size. */
export interface Workload {
  readonly name: string;
  readonly replicas: number;
  /** What a pod requests, in milli-CPU. */
  readonly cpu: number;
  /** What a pod uses, as a multiple of what it requests. */
  readonly usage: number;
}

export interface PlacedPod {
  readonly workload: number;
  readonly node: number;
}

/** A cluster of equal nodes whose second half was added late: all pods run on the first half. */
export interface Scene {
  readonly nodes: number;
  readonly workloads: readonly Workload[];
  readonly pods: readonly PlacedPod[];
}

export interface Extent {
  readonly nodes: number;
  readonly workloads: number;
}

/** Milli-CPU of a node. */
export const NODE_CPU = 16_000;
/**
 * Memory is requested and available in the same proportion to CPU everywhere, so that both have the same utilisation.
 */
export const MEBIBYTES_PER_MILLI_CPU = 4;
export const REPLICAS = 25;

/** Share of the full nodes' CPU that is requested. */
const FULLNESS = 0.71;
const SMALLEST = 20;

/**
 * The same for the same arguments. `hasOwnUsage`: usage is a fifth to nearly twice of what is requested, instead of
 * equal.
 */
export function sceneOf(sizes: Sizes, { nodes, workloads: count }: Extent, hasOwnUsage = false): Scene {
  const random = randomNumbers(7);
  const relative = Array.from({ length: count }, () => relativeSize(sizes, random));
  const scale = (FULLNESS * NODE_CPU * (nodes / 2)) / (REPLICAS * relative.reduce((sum, size) => sum + size, 0));
  const workloads = relative.map((size, index) => ({
    name: `workload-${index}`,
    replicas: REPLICAS,
    cpu: Math.max(SMALLEST, Math.round(size * scale)),
    usage: hasOwnUsage ? 0.2 + 1.6 * random() : 1,
  }));
  return { nodes, workloads, pods: placeOn(nodes / 2, workloads, random) };
}

function relativeSize(sizes: Sizes, random: () => number): number {
  if (sizes === "equal") return 1;
  if (sizes === "uniform") return 0.1 + 0.9 * random();
  return Math.exp(Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
}

/** Puts pods, in random order, each on the node with the lowest requests, as the scheduler does by default. */
function placeOn(nodes: number, workloads: readonly Workload[], random: () => number): readonly PlacedPod[] {
  const requested = new Float64Array(nodes);
  return workloads
    .flatMap(({ replicas }, workload) => Array.from({ length: replicas }, () => ({ workload, order: random() })))
    .sort((a, b) => a.order - b.order)
    .map(({ workload }) => {
      const node = requested.indexOf(Math.min(...requested));
      requested[node] = (requested[node] ?? 0) + (workloads[workload]?.cpu ?? 0);
      return { workload, node };
    });
}

/** Numbers from 0 to 1, the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}
