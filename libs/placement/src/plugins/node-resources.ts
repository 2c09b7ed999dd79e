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
  readonly others: readonly (readonly [ResourceColumn, number])[];
}

interface ResourceColumn {
  readonly allocatable: Float64Array;
  readonly used: Float64Array;
}

/** What each node has, and what the pods on it take. All amounts are whole numbers. */
export class NodeResources {
  readonly #nodes: readonly NodeFacts[];
  readonly #pods: ResourceColumn;
  readonly #cpu: ResourceColumn;
  readonly #memory: ResourceColumn;
  readonly #storage: ResourceColumn;
  /** As cpu and memory, where each container without a request counts 100m and 200Mi. */
  readonly #scoredCpu: Float64Array;
  readonly #scoredMemory: Float64Array;
  readonly #others = new Map<string, ResourceColumn>();

  constructor(nodes: readonly NodeFacts[]) {
    this.#nodes = nodes;
    this.#pods = this.#column("pods");
    this.#cpu = this.#column("cpu");
    this.#memory = this.#column("memory");
    this.#storage = this.#column("ephemeral-storage");
    this.#scoredCpu = new Float64Array(nodes.length);
    this.#scoredMemory = new Float64Array(nodes.length);
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
    increase(this.#pods.used, node, pods);
    increase(this.#cpu.used, node, demand.cpu * pods);
    increase(this.#memory.used, node, demand.memory * pods);
    increase(this.#storage.used, node, demand.storage * pods);
    increase(this.#scoredCpu, node, demand.scoredCpu * pods);
    increase(this.#scoredMemory, node, demand.scoredMemory * pods);
    for (const [{ used }, amount] of demand.others) increase(used, node, amount * pods);
  }

  /** Why a pod does not fit; undefined if it does. A pod without requests only needs a free slot. */
  whyNot({ cpu, memory, storage, others }: Demand, node: number): ResourceReason | undefined {
    if (lacks(this.#pods, node, 1)) return "TooManyPods";
    if (cpu > 0 && lacks(this.#cpu, node, cpu)) return "InsufficientCpu";
    if (memory > 0 && lacks(this.#memory, node, memory)) return "InsufficientMemory";
    if (storage > 0 && lacks(this.#storage, node, storage)) return "InsufficientEphemeralStorage";
    for (const [column, amount] of others) {
      if (amount > 0 && lacks(column, node, amount)) return "InsufficientResource";
    }
    return undefined;
  }

  /** NodeResourcesFit: of 100, the mean share of processors and memory that stays free with the pod. */
  leastAllocated(demand: Demand, node: number): number {
    const cpu = freeShare(at(this.#cpu.allocatable, node), at(this.#scoredCpu, node) + demand.scoredCpu);
    const memory = freeShare(at(this.#memory.allocatable, node), at(this.#scoredMemory, node) + demand.scoredMemory);
    if (cpu === undefined) return memory ?? 0;
    return memory === undefined ? cpu : Math.trunc((cpu + memory) / 2);
  }

  /** NodeResourcesBalancedAllocation: 50 to 100, the more the pod evens out the shares of processors and memory. */
  balanced(demand: Demand, node: number): number {
    if (demand.cpu === 0 && demand.memory === 0) return 0;
    const cpu = at(this.#cpu.allocatable, node);
    const memory = at(this.#memory.allocatable, node);
    const [cpuUsed, memoryUsed] = [at(this.#cpu.used, node), at(this.#memory.used, node)];
    const before = balance(cpuUsed, cpu, memoryUsed, memory);
    const after = balance(cpuUsed + demand.cpu, cpu, memoryUsed + demand.memory, memory);
    return 50 + Math.trunc((50 + after - before) / 2);
  }

  #column(name: string): ResourceColumn {
    return {
      allocatable: Float64Array.from(this.#nodes, ({ allocatable }) => allocatable[name] ?? 0),
      used: new Float64Array(this.#nodes.length),
    };
  }

  #other(name: string): ResourceColumn {
    const known = this.#others.get(name);
    if (known !== undefined) return known;
    const column = this.#column(name);
    this.#others.set(name, column);
    return column;
  }
}

function otherAmounts(requests: Amounts): readonly [string, number][] {
  const isOther = (name: string): boolean => name.includes("/") || name.startsWith("hugepages-");
  return Object.entries(requests).filter(([name]) => isOther(name));
}

/** Written so that an unknown amount, NaN, is lacking. */
function lacks({ allocatable, used }: ResourceColumn, node: number, amount: number): boolean {
  return !(amount <= at(allocatable, node) - at(used, node));
}

/** Of 100, what stays free; undefined where the node has nothing of the kind. */
function freeShare(allocatable: number, used: number): number | undefined {
  if (allocatable === 0) return undefined;
  return used > allocatable ? 0 : Math.trunc(((allocatable - used) * 100) / allocatable);
}

/** Of 100, how near the used shares of two resources are. */
function balance(cpuUsed: number, cpu: number, memoryUsed: number, memory: number): number {
  if (cpu === 0 || memory === 0) return 100;
  const deviation = Math.abs((Math.min(cpuUsed / cpu, 1) - Math.min(memoryUsed / memory, 1)) / 2);
  return Math.trunc((1 - deviation) * 100);
}

function at(column: Float64Array, node: number): number {
  return column[node] ?? 0;
}

function increase(column: Float64Array, node: number, by: number): void {
  column[node] = at(column, node) + by;
}
