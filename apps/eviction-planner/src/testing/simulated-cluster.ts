import {
  type EvictionRecord,
  evictionOf,
  followed,
  memoryOf,
  NO_EVICTIONS,
  reasonToStop,
  withEviction,
} from "../decide/evictions.ts";
import { plan } from "../decide/plan.ts";
import { type PlanMemory, type PlanSnapshot, POD, UNKNOWN } from "../decide/snapshot.ts";
import { BYTES, CORES, NOW, type NodeSpec, type PodSpec, snapshotOf, type World } from "./sample-snapshot.ts";

export interface SimulatedPod {
  readonly name: string;
  readonly owner: string;
  readonly load: number;
  node: string;
  readonly startedAt: number;
  /** Set when it is evicted: until then it runs on. */
  endsAt?: number;
}

/**
 * Where the scheduler places a pod: the node with the least or the most load that still fits. Of equal nodes it takes
 * the first, or with `AnyLeastAllocated` another one each time.
 */
export type Scheduling = "LeastAllocated" | "AnyLeastAllocated" | "MostAllocated";

export interface SimulatedClusterOptions {
  readonly nodes: readonly NodeSpec[];
  readonly pods: readonly { readonly owner: string; readonly node: string; readonly load: number }[];
  readonly policy?: Partial<PlanSnapshot["policy"]["spec"]>;
  /** Milliseconds that an evicted pod takes to end, and a new one to become ready. */
  readonly grace?: number;
  readonly start?: number;
  readonly scheduling?: Scheduling;
  readonly slos?: World["slos"];
  /** Whose new pods never become ready, as while their image cannot be pulled. */
  readonly broken?: string;
  /** Milliseconds over which the CPU of nodes and pods is averaged. Without, it is that of the moment. */
  readonly window?: number;
}

const MINUTE = 60_000;

/** A cluster that moves in time, with a planner whose plans are carried out at once. No I/O, no clock but its own. */
export class SimulatedCluster {
  now = NOW;
  record: EvictionRecord = NO_EVICTIONS;
  readonly evictedAt: { readonly at: number; readonly pod: string; readonly owner: string }[] = [];
  nodes: readonly NodeSpec[];
  pods: SimulatedPod[];
  readonly #options: SimulatedClusterOptions;
  #left: Pick<PlanMemory, "levels" | "underWay"> = { levels: {} };
  #count = 0;
  /** The load of each node before each turn. */
  readonly #loads: ReadonlyMap<string, number>[] = [];

  constructor(options: SimulatedClusterOptions) {
    this.#options = options;
    this.nodes = options.nodes;
    const startedAt = NOW - 60 * MINUTE;
    this.pods = options.pods.map((pod) => ({ ...pod, name: `pod-${(this.#count += 1)}`, startedAt }));
  }

  /** One turn of the service: what became of evictions, a plan, and its evictions. Gives σ before it. */
  turn(length: number, acts = true): number {
    this.now += length;
    this.pods = this.pods.filter(({ endsAt = Infinity }) => endsAt > this.now);
    this.#loads.push(this.#loadOfNodes());
    const observed = this.snapshot(null, length);
    this.record = followed(this.record, observed.cluster, this.now);
    const memory = memoryOf(this.record, observed.cluster, this.#left, this.now);
    const snapshot = { ...observed, memory, ...(!acts && { budget: 0 }) };
    const made = plan(snapshot);
    this.#left = { levels: made.levels, underWay: made.underWay };
    const mayAct = acts && reasonToStop(this.record, "default", this.now) === null;
    for (const move of mayAct ? made.moves : []) {
      const about = { policy: "default", at: this.now, wave: this.now, backOff: 15 * MINUTE };
      this.record = withEviction(this.record, evictionOf(move, snapshot.cluster, about), made.likelyNodes);
      this.#evict(move.pod.name);
    }
    return made.sigma?.before ?? NaN;
  }

  /** `every` is the length of the turns, where usage is averaged over several. */
  snapshot(memory: PlanMemory | null, every = 0): PlanSnapshot {
    const { policy = {}, slos = [] } = this.#options;
    const nodes = every === 0 ? this.nodes : this.nodes.map((node) => this.#averaged(node, every));
    const world = { nodes, pods: this.pods.map((pod) => this.#specOf(pod)), slos };
    return snapshotOf(world, policy, { memory, at: this.now });
  }

  /** Evicts pods at once, as a script does that remembers nothing. */
  evict(pods: readonly string[]): void {
    for (const pod of pods) this.#evict(pod);
  }

  /** A new pod of a workload, where the scheduler places it. */
  add(owner: string, load: number): void {
    const name = `pod-${(this.#count += 1)}`;
    this.pods.push({ name, owner, load, node: this.#place(load), startedAt: this.now });
  }

  #evict(name: string): void {
    const { grace = 0 } = this.#options;
    const pod = this.pods.find((each) => each.name === name);
    if (pod === undefined) throw new Error(`there is no ${name}`);
    this.evictedAt.push({ at: this.now, pod: name, owner: pod.owner });
    if (grace === 0) this.pods = this.pods.filter((each) => each !== pod);
    else pod.endsAt = this.now + grace;
    this.add(pod.owner, pod.load);
  }

  #place(load: number): string {
    const sums = this.nodes.map(({ name, rest }) => {
      const here = this.pods.filter(({ node }) => node === name);
      return { name, sum: here.reduce((sum, pod) => sum + pod.load, 0), rest: rest ?? 0 };
    });
    const fitting = sums.filter(({ sum }) => sum + load <= 1).sort((one, other) => one.sum - other.sum);
    const equals = fitting.filter(({ sum }) => sum === fitting[0]?.sum);
    const any = equals[(this.#count * 7) % Math.max(1, equals.length)];
    const chosen = { LeastAllocated: fitting[0], AnyLeastAllocated: any, MostAllocated: fitting.at(-1) }[
      this.#options.scheduling ?? "LeastAllocated"
    ];
    return (chosen ?? sums[0])?.name ?? "";
  }

  #loadOfNodes(): ReadonlyMap<string, number> {
    const loads = new Map<string, number>();
    for (const { node, load } of this.pods) loads.set(node, (loads.get(node) ?? 0) + load);
    return loads;
  }

  /** The node with its mean CPU over the window. Memory is that of the moment. */
  #averaged(node: NodeSpec, every: number): NodeSpec {
    const { window } = this.#options;
    if (window === undefined) return node;
    const count = window / every;
    const loadAt = (turn: number) => this.#loads[Math.max(0, turn)]?.get(node.name) ?? 0;
    const last = this.#loads.length - 1;
    const mean =
      Array.from({ length: count }, (_, ago) => loadAt(last - ago)).reduce((sum, load) => sum + load) / count;
    const usage = { cpu: Math.round(mean * CORES), memory: Math.round(loadAt(last) * BYTES) };
    return { ...node, row: { ...node.row, usage, measuredSince: this.now - window } };
  }

  #specOf({ name, owner, load, node, startedAt, endsAt }: SimulatedPod): PodSpec {
    const { start = 20_000, broken, window = MINUTE } = this.#options;
    const isBroken = owner === broken && startedAt >= NOW;
    const ready = !isBroken && this.now - startedAt >= start;
    // A pod has a sample once its window lies after its start.
    const isMeasured = !isBroken && this.now - startedAt >= window;
    return {
      ...{ name, owner, node, startedAt, load: isMeasured ? load : null, requested: load },
      readySince: ready ? startedAt + start : UNKNOWN,
      flags: endsAt === undefined ? 0 : POD.terminating,
    };
  }
}
