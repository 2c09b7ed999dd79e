import type { Amounts, NodeFacts, PodShape } from "../facts.ts";

export type ResourceReason =
  "TooManyPods" | "InsufficientCpu" | "InsufficientMemory" | "InsufficientEphemeralStorage" | "InsufficientResource";

/** What a pod takes, ready for comparison with nodes. */
export interface Demand {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  /** Extended resources and huge pages. */
  readonly others: readonly (readonly [ExtendedResource, number])[];
}

interface ExtendedResource {
  readonly allocatable: Float64Array;
  readonly used: Float64Array;
}

/**
 * The figures of a node are next to each other in memory: what it has, what its pods take, and what they take where
 * each container without a request counts 100m and 200Mi.
 */
const STRIDE = 16;
const PODS = 0;
const PODS_USED = 1;
const CPU = 2;
const CPU_USED = 3;
const MEMORY = 4;
const MEMORY_USED = 5;
const STORAGE = 6;
const STORAGE_USED = 7;
const SCORED_CPU = 8;
const SCORED_MEMORY = 9;
const BALANCE = 10;

/** What each node has, and what the pods on it take. All amounts are whole numbers. */
export class NodeResources {
  readonly #nodes: readonly NodeFacts[];
  readonly #figures: Float64Array;
  readonly #others = new Map<string, ExtendedResource>();

  constructor(nodes: readonly NodeFacts[]) {
    this.#nodes = nodes;
    this.#figures = new Float64Array(nodes.length * STRIDE);
    nodes.forEach(({ allocatable }, node) => {
      const row = node * STRIDE;
      this.#figures[row + PODS] = allocatable["pods"] ?? 0;
      this.#figures[row + CPU] = allocatable["cpu"] ?? 0;
      this.#figures[row + MEMORY] = allocatable["memory"] ?? 0;
      this.#figures[row + STORAGE] = allocatable["ephemeral-storage"] ?? 0;
      this.#figures[row + BALANCE] = this.#balanceWith(row, 0, 0);
    });
  }

  demand({ requests, scoredRequests }: Pick<PodShape, "requests" | "scoredRequests">): Demand {
    return {
      cpu: requests["cpu"] ?? 0,
      memory: requests["memory"] ?? 0,
      storage: requests["ephemeral-storage"] ?? 0,
      scoredCpu: scoredRequests.cpu,
      scoredMemory: scoredRequests.memory,
      others: otherAmounts(requests).map(([name, amount]) => [this.#other(name), amount]),
    };
  }

  /** Adds `pods` pods of a kind to a node, or takes them away where it is negative. */
  change(demand: Demand, node: number, pods: number): void {
    const figures = this.#figures;
    const row = node * STRIDE;
    figures[row + PODS_USED] = (figures[row + PODS_USED] ?? 0) + pods;
    figures[row + CPU_USED] = (figures[row + CPU_USED] ?? 0) + demand.cpu * pods;
    figures[row + MEMORY_USED] = (figures[row + MEMORY_USED] ?? 0) + demand.memory * pods;
    figures[row + STORAGE_USED] = (figures[row + STORAGE_USED] ?? 0) + demand.storage * pods;
    figures[row + SCORED_CPU] = (figures[row + SCORED_CPU] ?? 0) + demand.scoredCpu * pods;
    figures[row + SCORED_MEMORY] = (figures[row + SCORED_MEMORY] ?? 0) + demand.scoredMemory * pods;
    figures[row + BALANCE] = this.#balanceWith(row, 0, 0);
    for (const [{ used }, amount] of demand.others) used[node] = (used[node] ?? 0) + amount * pods;
  }

  /** Why a pod does not fit; undefined if it does. A pod without requests only needs a free slot. */
  whyNot({ cpu, memory, storage, others }: Demand, node: number): ResourceReason | undefined {
    const row = node * STRIDE;
    // Written so that an unknown amount, NaN, is lacking.
    if (!(1 <= this.#free(row, PODS))) return "TooManyPods";
    if (cpu !== 0 && !(cpu <= this.#free(row, CPU))) return "InsufficientCpu";
    if (memory !== 0 && !(memory <= this.#free(row, MEMORY))) return "InsufficientMemory";
    if (storage !== 0 && !(storage <= this.#free(row, STORAGE))) return "InsufficientEphemeralStorage";
    for (const [{ allocatable, used }, amount] of others) {
      if (amount !== 0 && !(amount <= (allocatable[node] ?? 0) - (used[node] ?? 0))) return "InsufficientResource";
    }
    return undefined;
  }

  /** NodeResourcesFit: of 100, the mean share of processors and memory that stays free with the pod. */
  leastAllocated(demand: Demand, node: number): number {
    const figures = this.#figures;
    const row = node * STRIDE;
    const cpu = figures[row + CPU] ?? 0;
    const memory = figures[row + MEMORY] ?? 0;
    const freeCpu = freeShare(cpu, (figures[row + SCORED_CPU] ?? 0) + demand.scoredCpu);
    const freeMemory = freeShare(memory, (figures[row + SCORED_MEMORY] ?? 0) + demand.scoredMemory);
    if (cpu === 0) return freeMemory;
    return memory === 0 ? freeCpu : Math.trunc((freeCpu + freeMemory) / 2);
  }

  /** NodeResourcesBalancedAllocation: 50 to 100, the more the pod evens out the shares of processors and memory. */
  balanced(demand: Demand, node: number): number {
    if (demand.cpu === 0 && demand.memory === 0) return 0;
    const row = node * STRIDE;
    const after = this.#balanceWith(row, demand.cpu, demand.memory);
    return 50 + Math.trunc((50 + after - (this.#figures[row + BALANCE] ?? 0)) / 2);
  }

  /**
   * The sum of both scores, or -1 where the pod does not fit. The common resources are compared here and not by
   * {@link whyNot}, because a landing asks this of every node.
   */
  pointsIfFits(demand: Demand, node: number): number {
    const { cpu, memory, storage } = demand;
    const figures = this.#figures;
    const row = node * STRIDE;
    const hasCpu = figures[row + CPU] as number;
    const hasMemory = figures[row + MEMORY] as number;
    const cpuUsed = figures[row + CPU_USED] as number;
    const memoryUsed = figures[row + MEMORY_USED] as number;
    if (!(1 <= (figures[row + PODS] as number) - (figures[row + PODS_USED] as number))) return -1;
    if (cpu !== 0 && !(cpu <= hasCpu - cpuUsed)) return -1;
    if (memory !== 0 && !(memory <= hasMemory - memoryUsed)) return -1;
    if (storage !== 0 && !(storage <= this.#free(row, STORAGE))) return -1;
    if (demand.others.length > 0 && this.whyNot(demand, node) !== undefined) return -1;
    return this.leastAllocated(demand, node) + this.balanced(demand, node);
  }

  #free(row: number, resource: number): number {
    return (this.#figures[row + resource] ?? 0) - (this.#figures[row + resource + 1] ?? 0);
  }

  /** Of 100, how near the used shares of processors and memory are with so much more of both. */
  #balanceWith(row: number, moreCpu: number, moreMemory: number): number {
    const figures = this.#figures;
    const cpu = figures[row + CPU] ?? 0;
    const memory = figures[row + MEMORY] ?? 0;
    if (cpu === 0 || memory === 0) return 100;
    const cpuShare = Math.min(((figures[row + CPU_USED] ?? 0) + moreCpu) / cpu, 1);
    const memoryShare = Math.min(((figures[row + MEMORY_USED] ?? 0) + moreMemory) / memory, 1);
    return Math.trunc((1 - Math.abs((cpuShare - memoryShare) / 2)) * 100);
  }

  #other(name: string): ExtendedResource {
    const known = this.#others.get(name);
    if (known !== undefined) return known;
    const allocatable = Float64Array.from(this.#nodes, (node) => node.allocatable[name] ?? 0);
    const column = { allocatable, used: new Float64Array(this.#nodes.length) };
    this.#others.set(name, column);
    return column;
  }
}

function otherAmounts(requests: Amounts): readonly [string, number][] {
  const isOther = (name: string): boolean => name.includes("/") || name.startsWith("hugepages-");
  return Object.entries(requests).filter(([name]) => isOther(name));
}

/** Of 100, what stays free; 0 where the node has nothing of the kind. */
function freeShare(allocatable: number, used: number): number {
  return used > allocatable || allocatable === 0 ? 0 : Math.trunc(((allocatable - used) * 100) / allocatable);
}
