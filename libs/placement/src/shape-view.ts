import type { Cluster } from "./cluster.ts";
import type { PodShape } from "./facts.ts";
import type { Features } from "./features.ts";
import { Group } from "./group.ts";
import { Judge, type Judged, type NeighbourReason, type NeighbourScores } from "./judge.ts";
import type { NodeReason } from "./node-filters.ts";
import { EXCLUDED, type NodeKinds } from "./node-kinds.ts";
import type { Demand, ResourceReason } from "./plugins/node-resources.ts";
import { NO_DOMAIN, type Topology } from "./topology.ts";

/** Why a node does not take a pod; one for each cause that a filter of the scheduler knows. */
export type FilterReason =
  NodeReason | ResourceReason | NeighbourReason | "HostPorts" | "VolumeInUse" | "VolumeLimit" | "Unmodelled";

/** Points by plugin, with the plugin's weight. */
export interface PluginScores extends NeighbourScores {
  readonly NodeResourcesFit: number;
  readonly NodeResourcesBalancedAllocation: number;
  readonly ImageLocality: number;
}

export interface NodeScore {
  readonly node: number;
  readonly total: number;
  readonly plugins: PluginScores;
}

const NIL = -1;

/**
 * The nodes of a cluster as one shape sees them, kept in order of their scores. After a change of the cluster only the
 * nodes that changed are looked at again, when the next question comes.
 */
export class ShapeView {
  readonly #cluster: Cluster;
  readonly #shape: PodShape;
  readonly #demand: Demand;
  readonly #features: Features;
  readonly #kinds: NodeKinds;
  readonly #judge: Judge;
  readonly #images: Uint8Array | null;
  /** Fine topologies whose domains may have several nodes. */
  readonly #shared: readonly Topology[];
  readonly #fine: readonly number[];
  #version = NIL;

  /** By node: its group, or NIL where no pod of the shape fits; its base score; its neighbours in the list of both. */
  readonly #groupOf: Int32Array;
  readonly #base: Int16Array;
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #groups: Group[] = [];
  /** Groups in which all fine features are 0, by kind. */
  readonly #plainGroups: number[] = [];
  readonly #groupsByCodes = new Map<string, number>();

  constructor(cluster: Cluster, shape: number, features: Features, kinds: NodeKinds) {
    this.#cluster = cluster;
    this.#shape = cluster.shape(shape);
    this.#demand = cluster.demand(shape);
    this.#features = features;
    this.#kinds = kinds;
    this.#judge = new Judge(features);
    this.#images = cluster.images.scores(this.#shape.images, this.#shape.containers);
    this.#fine = features.all.flatMap(({ isCoarse }, index) => (isCoarse ? [] : [index]));
    const fine = new Set(features.all.filter(({ isCoarse }) => !isCoarse).map(({ counter }) => counter.topology));
    this.#shared = [...fine].filter((topology) => topology.size < cluster.nodes.length);
    const { length } = cluster.nodes;
    this.#groupOf = new Int32Array(length).fill(NIL);
    this.#base = new Int16Array(length);
    this.#next = new Int32Array(length).fill(NIL);
    this.#previous = new Int32Array(length).fill(NIL);
  }

  whyNot(node: number): FilterReason | undefined {
    if (this.#shape.unmodelled !== null) return "Unmodelled";
    const excluded = this.#kinds.reasons[node];
    return excluded ?? this.#whyNotNow(node) ?? this.#judge.whyNot(this.#codes(node));
  }

  /** Scores of nodes that the filters let through, compared with each other and with no other node. */
  scores(nodes: readonly number[]): readonly NodeScore[] {
    const judged = nodes.map((node): Judged => {
      const kind = this.#kinds.kinds[this.#kinds.kindOf[node] ?? EXCLUDED];
      if (kind === undefined) throw new RangeError(`node ${node} is excluded: ${this.whyNot(node)}`);
      return { kind, codes: this.#codes(node), size: 1, isIgnored: false, crowding: 0, weight: 0 };
    });
    const ranges = this.#judge.compare(judged, nodes.length);
    return judged.map((one, index): NodeScore => {
      const node = nodes[index] ?? NIL;
      const plugins = {
        ...this.#judge.scores(one, ranges),
        NodeResourcesFit: this.#cluster.resources.leastAllocated(this.#demand, node),
        NodeResourcesBalancedAllocation: this.#cluster.resources.balanced(this.#demand, node),
        ImageLocality: this.#images?.[node] ?? 0,
      };
      return { node, plugins, total: Object.values(plugins).reduce((sum, points) => sum + points, 0) };
    });
  }

  /** Brings the view up to date, and judges its groups as if `scored` nodes were compared. Tells the feasible ones. */
  feasibleGroups(scored: (feasible: number) => number): { groups: readonly Group[]; feasible: number } {
    this.#catchUp();
    if (this.#shape.unmodelled !== null || this.#cluster.volumes.inUse(this.#shape.volumes)) {
      return { groups: [], feasible: 0 };
    }
    const groups: Group[] = [];
    let feasible = 0;
    for (const group of this.#groups) {
      if (group.size === 0 || this.#judge.whyNot(group.codes) !== undefined) continue;
      groups.push(group);
      feasible += group.size;
    }
    const ranges = this.#judge.compare(groups, scored(feasible));
    for (const group of groups) {
      const points = this.#judge.scores(group, ranges);
      group.bonus = points.TaintToleration + points.NodeAffinity + points.PodTopologySpread + points.InterPodAffinity;
    }
    return { groups, feasible };
  }

  /** The next node of the same group and base score, or -1. */
  nextOf(node: number): number {
    return this.#next[node] ?? NIL;
  }

  /** Looks at a node again, and at those that share a domain with it. */
  refresh(node: number): void {
    this.#place(node);
    for (const topology of this.#shared) {
      const domain = topology.domainOf[node] ?? NO_DOMAIN;
      for (const neighbour of topology.nodesOf(domain)) if (neighbour !== node) this.#place(neighbour);
    }
  }

  #catchUp(): void {
    const version = this.#cluster.version;
    if (this.#version === version) return;
    const changes = this.#version === NIL ? undefined : this.#cluster.changesSince(this.#version);
    if (changes === undefined) for (let node = 0; node < this.#base.length; node++) this.#place(node);
    else for (const node of changes) this.refresh(node);
    this.#version = version;
  }

  #whyNotNow(node: number): FilterReason | undefined {
    const { resources, volumes } = this.#cluster;
    if (this.#cluster.portsTaken(this.#shape, node)) return "HostPorts";
    const lacking = resources.whyNot(this.#demand, node);
    if (lacking !== undefined || this.#shape.volumes.length === 0) return lacking;
    if (volumes.inUse(this.#shape.volumes)) return "VolumeInUse";
    return volumes.exceedsLimit(this.#shape.volumes, node) ? "VolumeLimit" : undefined;
  }

  #place(node: number): void {
    const kind = this.#kinds.kindOf[node] ?? EXCLUDED;
    if (kind === EXCLUDED) return;
    this.#unlink(node);
    const reason = this.#whyNotNow(node);
    // A volume in use excludes all nodes at once, and is asked for then.
    if (reason !== undefined && reason !== "VolumeInUse") return;
    const { resources } = this.#cluster;
    const base =
      resources.leastAllocated(this.#demand, node) +
      resources.balanced(this.#demand, node) +
      (this.#images?.[node] ?? 0);
    this.#link(node, this.#groupFor(node, kind), base);
  }

  #groupFor(node: number, kind: number): number {
    const { all } = this.#features;
    let isPlain = true;
    for (const index of this.#fine) {
      const counter = all[index]?.counter;
      if (counter !== undefined && counter.at(counter.topology.domainOf[node] ?? NO_DOMAIN) > 0) isPlain = false;
    }
    if (isPlain) return (this.#plainGroups[kind] ??= this.#newGroup(kind, this.#kinds.kinds[kind]?.codes));
    const codes = this.#codes(node);
    const key = `${kind} ${codes.join(" ")}`;
    const known = this.#groupsByCodes.get(key);
    if (known !== undefined) return known;
    const group = this.#newGroup(kind, codes);
    this.#groupsByCodes.set(key, group);
    return group;
  }

  #newGroup(kind: number, codes: Int32Array | undefined): number {
    const nodeKind = this.#kinds.kinds[kind];
    if (nodeKind === undefined || codes === undefined) throw new RangeError(`there is no kind ${kind}`);
    return this.#groups.push(new Group(nodeKind, codes)) - 1;
  }

  #codes(node: number): Int32Array {
    return Int32Array.from(this.#features.all, ({ counter, isCoarse }) => {
      const domain = counter.topology.domainOf[node] ?? NO_DOMAIN;
      return isCoarse || domain === NO_DOMAIN ? domain : counter.at(domain);
    });
  }

  #link(node: number, index: number, base: number): void {
    const group = this.#groups[index];
    if (group === undefined) return;
    const head = group.heads[base] ?? NIL;
    this.#next[node] = head;
    this.#previous[node] = NIL;
    if (head !== NIL) this.#previous[head] = node;
    group.heads[base] = node;
    group.sizes[base] = (group.sizes[base] ?? 0) + 1;
    group.size += 1;
    if (base > group.top) group.top = base;
    this.#groupOf[node] = index;
    this.#base[node] = base;
  }

  #unlink(node: number): void {
    const group = this.#groups[this.#groupOf[node] ?? NIL];
    if (group === undefined) return;
    const base = this.#base[node] ?? 0;
    const [next, previous] = [this.#next[node] ?? NIL, this.#previous[node] ?? NIL];
    if (previous === NIL) group.heads[base] = next;
    else this.#next[previous] = next;
    if (next !== NIL) this.#previous[next] = previous;
    group.sizes[base] = (group.sizes[base] ?? 0) - 1;
    group.size -= 1;
    this.#groupOf[node] = NIL;
  }
}
