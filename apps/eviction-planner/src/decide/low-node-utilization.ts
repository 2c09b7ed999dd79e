import { hashText, Spread } from "@evenkeel/scoring";
import { type Account, disruptionAccounts } from "./disruption-budgets.ts";
import type { Landings } from "./landings.ts";
import { type ClusterSnapshot, NONE, POD } from "./snapshot.ts";
import type { Utilisation } from "./utilisation.ts";

// An emulation of descheduler's LowNodeUtilization with useDeviationThresholds on cpu and memory, for comparison. It
// knows no objective: it evicts pods of nodes above the mean plus a band, in no order of size, until they are below it.

const CRITICAL_PRIORITY = 2_000_000_000;
/** Cycles after which it is stopped: on some clusters it evicts for ever. */
const MOST_CYCLES = 10;

interface Amounts {
  cpu: number;
  memory: number;
}

const RESOURCES = ["cpu", "memory"] as const;

export interface Emulated {
  readonly evictions: number;
  /** Evictions whose replacement came back to the same node. */
  readonly returned: number;
  readonly cycles: number;
  readonly sigma: number;
}

/**
 * What descheduler would do, in cycles until it evicts nothing more. `band` is in percent around the mean, as it takes
 * it. It takes pods of equal priority in random order; `order` is the number of one.
 */
export class LowNodeUtilization {
  readonly #cluster: ClusterSnapshot;
  readonly #utilisation: Utilisation;
  readonly #band: number;
  readonly #order: number;
  readonly #nodes: readonly number[];
  /** Present load by node, and where each pod runs. */
  readonly #used: readonly Amounts[];
  readonly #budgets: readonly (readonly Account[])[];
  readonly #evicted = new Set<number>();
  readonly #podsOf: ReadonlyMap<number, readonly number[]>;

  constructor(cluster: ClusterSnapshot, utilisation: Utilisation, band: number, order: number) {
    this.#cluster = cluster;
    this.#utilisation = utilisation;
    this.#band = band / 100;
    this.#order = order;
    this.#nodes = [...utilisation.nodeAt];
    const { cpu, memory } = utilisation.nodeLoads;
    this.#used = cluster.nodes.map((_, node) => ({ cpu: cpu[node] as number, memory: memory[node] as number }));
    this.#podsOf = Map.groupBy(cluster.pods.uid.keys(), (pod) => cluster.pods.node[pod] as number);
    const accounts = disruptionAccounts(cluster.disruptionBudgets, true);
    this.#budgets = cluster.shapes.map(({ namespace, labels }) => accounts(namespace, labels));
  }

  run(landings: Landings): Emulated {
    let [returned, cycles] = [0, 0];
    while (cycles < MOST_CYCLES) {
      const evicted = this.cycle();
      if (evicted.length === 0) break;
      for (const pod of evicted) if (this.#land(pod, landings)) returned += 1;
      cycles += 1;
    }
    const levels = Float64Array.from(this.#nodes, (node, slot) => {
      const share = this.#utilisation.shares[slot];
      const used = this.#used[node];
      return (used?.cpu ?? 0) * (share?.cpu ?? 0) + (used?.memory ?? 0) * (share?.memory ?? 0);
    });
    return { evictions: this.#evicted.size, returned, cycles, sigma: new Spread(levels).sigma };
  }

  /** The pods that one cycle evicts, in their order. It does not see where they land. */
  cycle(): readonly number[] {
    const limits = this.#limits();
    const isBelow = (node: number) => RESOURCES.every((resource) => this.#ratio(node, resource) < limits.low[resource]);
    const low = this.#nodes.filter((node) => this.#cluster.nodes[node]?.unschedulable === false && isBelow(node));
    const isAbove = (node: number, used: Amounts) =>
      RESOURCES.some((resource) => used[resource] > limits.high[resource] * this.#capacity(node, resource));
    const high = this.#nodes.filter((node) => isAbove(node, this.#amounts(node)));
    if (low.length === 0 || high.length === 0) return [];
    const room = { cpu: 0, memory: 0 };
    for (const node of low) {
      for (const resource of RESOURCES) {
        room[resource] += limits.high[resource] * this.#capacity(node, resource) - this.#amounts(node)[resource];
      }
    }
    // It sums milli-CPU and bytes, so that memory alone decides.
    high.sort((a, b) => total(this.#amounts(b)) - total(this.#amounts(a)) || a - b);
    const evicted: number[] = [];
    for (const node of high) {
      const believed = { ...this.#amounts(node) };
      for (const pod of this.#evictable(node)) {
        if (!isAbove(node, believed) || room.cpu <= 0 || room.memory <= 0) break;
        if (!this.#evict(pod)) continue;
        evicted.push(pod);
        const load = this.#load(pod);
        for (const resource of RESOURCES) {
          believed[resource] -= load[resource];
          room[resource] -= load[resource];
        }
      }
    }
    return evicted;
  }

  /** The mean of each resource's percentages, less and plus the band. */
  #limits(): { readonly low: Amounts; readonly high: Amounts } {
    const [low, high] = [
      { cpu: 0, memory: 0 },
      { cpu: 0, memory: 0 },
    ];
    for (const resource of RESOURCES) {
      const mean = this.#nodes.reduce((sum, node) => sum + this.#ratio(node, resource), 0) / this.#nodes.length;
      low[resource] = Math.max(0, mean - this.#band);
      high[resource] = Math.min(1, mean + this.#band);
    }
    return { low, high };
  }

  /** Pods of a node that its default evictor lets go: lower priority first, then in no order of size. */
  #evictable(node: number): readonly number[] {
    const { pods, owners } = this.#cluster;
    const blocking = POD.mirror | POD.terminating | POD.pending | POD.hostPath | POD.emptyDir;
    const found = (this.#podsOf.get(node) ?? []).filter((pod) => {
      const owner = owners[pods.owner[pod] as number];
      if (this.#evicted.has(pod) || owner === undefined || owner.kind === "DaemonSet") return false;
      if (((pods.flags[pod] as number) & blocking) !== 0) return false;
      return (pods.priority[pod] as number) < CRITICAL_PRIORITY && !Number.isNaN(this.#load(pod).cpu);
    });
    const order = new Map(found.map((pod) => [pod, hashText(`${this.#order} ${pods.uid[pod] ?? ""}`).high]));
    return found.sort(
      (a, b) =>
        (pods.priority[a] as number) - (pods.priority[b] as number) || (order.get(a) ?? 0) - (order.get(b) ?? 0),
    );
  }

  /** The API server refuses what a PodDisruptionBudget does not allow. */
  #evict(pod: number): boolean {
    const accounts = this.#budgets[this.#cluster.pods.shape[pod] as number] ?? [];
    if (accounts.some(({ left }) => left <= 0)) return false;
    for (const account of accounts) account.left -= 1;
    this.#evicted.add(pod);
    return true;
  }

  /** Whether the replacement of a pod came back to its node. */
  #land(pod: number, landings: Landings): boolean {
    const from = this.#cluster.pods.node[pod] as number;
    const to = landings.of(pod)[0]?.node ?? NONE;
    const load = this.#load(pod);
    for (const resource of RESOURCES) {
      this.#amounts(from)[resource] -= load[resource];
      if (to !== NONE) this.#amounts(to)[resource] += load[resource];
    }
    if (to !== NONE) landings.move(pod, to);
    return to === from;
  }

  #load(pod: number): Amounts {
    const { cpu, memory } = this.#utilisation.podLoads;
    return { cpu: cpu[pod] as number, memory: memory[pod] as number };
  }

  #amounts(node: number): Amounts {
    return this.#used[node] as Amounts;
  }

  #ratio(node: number, resource: keyof Amounts): number {
    return this.#amounts(node)[resource] / this.#capacity(node, resource);
  }

  #capacity(node: number, resource: keyof Amounts): number {
    return this.#cluster.nodes[node]?.allocatable[resource] ?? NaN;
  }
}

function total({ cpu, memory }: Amounts): number {
  return cpu + memory;
}
