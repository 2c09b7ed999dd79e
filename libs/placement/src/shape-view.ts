import type { Cluster } from "./cluster.ts";
import type { Counter } from "./counter.ts";
import type { PodShape } from "./facts.ts";
import type { Features } from "./features.ts";
import { Group } from "./group.ts";
import { favourFirst, type Landing, landings } from "./landing.ts";
import { Judge, type Judged, type NeighbourReason, type NeighbourScores } from "./judge.ts";
import type { NodeReason } from "./node-filters.ts";
import { NodeLists } from "./node-lists.ts";
import { EXCLUDED, type NodeKinds } from "./node-kinds.ts";
import type { Demand, ResourceReason } from "./plugins/node-resources.ts";
import { tieOrder } from "./search-order.ts";
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

/** Bounds of what makes up the key of a state. */
const FINE_LIMIT = 2 ** 10;
const COUNT_LIMIT = 2 ** 17;

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
  readonly #fine: readonly Counter[];
  /** The shape claims ports or volumes besides resources. */
  readonly #claimsMore: boolean;
  #version = NIL;

  readonly #groups: Group[] = [];
  readonly #lists: NodeLists;
  /**
   * Kinds of nodes and counts of fine features, told apart by a number: that of the kind where all counts are 0, and
   * one more for each count that is added to what was known so far.
   */
  readonly #states = new Map<number, number>();
  /** The group of each state. */
  readonly #groupsByState: (number | undefined)[] = [];

  constructor(cluster: Cluster, shape: number, features: Features, kinds: NodeKinds) {
    this.#cluster = cluster;
    this.#shape = cluster.shape(shape);
    this.#demand = cluster.demand(shape);
    this.#features = features;
    this.#kinds = kinds;
    this.#judge = new Judge(features);
    this.#images = cluster.images.scores(this.#shape.images, this.#shape.containers);
    this.#fine = features.all.filter(({ isCoarse }) => !isCoarse).map(({ counter }) => counter);
    const topologies = new Set(this.#fine.map(({ topology }) => topology));
    this.#shared = [...topologies].filter((topology) => topology.size < cluster.nodes.length);
    this.#claimsMore = this.#shape.hostPorts.length + this.#shape.volumes.length > 0;
    this.#lists = new NodeLists(this.#groups, cluster.nodes.length);
  }

  whyNot(node: number): FilterReason | undefined {
    if (this.#cluster.volumes.inUse(this.#shape.volumes)) return "VolumeInUse";
    const reason = this.#kinds.reasons[node] ?? this.#whyNotNow(node) ?? this.#judge.whyNot(this.#codes(node));
    return reason ?? (this.#shape.unmodelled === null ? undefined : "Unmodelled");
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

  /** Where a new pod goes, where the scheduler looks for `toFind` feasible nodes before it scores them. */
  landing(toFind: number, most: number): readonly Landing[] {
    this.catchUp();
    if (this.#shape.unmodelled !== null || this.#cluster.volumes.inUse(this.#shape.volumes)) return [];
    const groups: Group[] = [];
    let feasible = 0;
    for (const group of this.#groups) {
      group.isFeasible = group.size > 0 && this.#judge.whyNot(group.codes) === undefined;
      if (!group.isFeasible) continue;
      groups.push(group);
      feasible += group.size;
    }
    const scored = Math.min(toFind, feasible);
    const ranges = this.#judge.compare(groups, scored);
    for (const group of groups) {
      const points = this.#judge.scores(group, ranges);
      group.bonus = points.TaintToleration + points.NodeAffinity + points.PodTopologySpread + points.InterPodAffinity;
    }
    const found = landings(groups, this.#lists, { feasible, scored, most });
    // Where all nodes are scored, those that were found have equal scores. Elsewhere the search begins anywhere.
    const isTie = found.length > 1 && scored === feasible;
    return isTie && toFind === this.#cluster.nodes.length ? favourFirst(found, this.#firstOf(found)) : found;
  }

  /** The node that wins a tie: by its place in the list of the feasible nodes. */
  #firstOf(equals: readonly Landing[]): number {
    const { searchOrder } = this.#cluster;
    const places = new Map<number, number>(equals.map(({ node }) => [node, NIL]));
    let place = 0;
    for (const node of searchOrder) {
      if (this.#groups[this.#lists.groupOf(node)]?.isFeasible !== true) continue;
      if (places.has(node)) places.set(node, place);
      place += 1;
    }
    const [first] = [...places].sort(([, one], [, other]) => tieOrder(one, other));
    return first?.[0] ?? NIL;
  }

  /** Looks at a node again, and at those that share a domain with it. */
  refresh(node: number): void {
    this.#place(node);
    for (const topology of this.#shared) {
      const domain = topology.domainOf[node] ?? NO_DOMAIN;
      for (const neighbour of topology.nodesOf(domain)) if (neighbour !== node) this.#place(neighbour);
    }
  }

  /** Looks at all nodes that changed since the last time. */
  catchUp(): void {
    const { version, oldestVersion } = this.#cluster;
    if (this.#version < oldestVersion) {
      for (let node = 0; node < this.#cluster.nodes.length; node++) this.#place(node);
    } else {
      for (let seen = this.#version; seen < version; seen++) this.refresh(this.#cluster.changeAfter(seen));
    }
    this.#version = version;
  }

  #whyNotNow(node: number): FilterReason | undefined {
    return this.#cluster.resources.whyNot(this.#demand, node) ?? this.#whyNotClaims(node);
  }

  #whyNotClaims(node: number): FilterReason | undefined {
    if (!this.#claimsMore) return undefined;
    if (this.#cluster.portsTaken(this.#shape, node)) return "HostPorts";
    return this.#cluster.volumes.exceedsLimit(this.#shape.volumes, node) ? "VolumeLimit" : undefined;
  }

  #place(node: number): void {
    const kind = this.#kinds.kindOf[node] ?? EXCLUDED;
    if (kind === EXCLUDED) return;
    const points = this.#cluster.resources.pointsIfFits(this.#demand, node);
    if (points < 0 || this.#whyNotClaims(node) !== undefined) this.#lists.move(node, NIL, 0);
    else this.#lists.move(node, this.#groupFor(node, kind), points + (this.#images?.[node] ?? 0));
  }

  #groupFor(node: number, kind: number): number {
    const fine = this.#fine;
    let state = kind;
    for (let index = 0; index < fine.length; index++) {
      const count = fine[index]?.countAround(node) ?? 0;
      if (count > 0) state = this.#stateWith(state, index, count);
    }
    return (this.#groupsByState[state] ??= this.#newGroup(node, kind));
  }

  #stateWith(state: number, feature: number, count: number): number {
    const key = (state * FINE_LIMIT + feature) * COUNT_LIMIT + count;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const added = this.#kinds.kinds.length + this.#states.size;
    this.#states.set(key, added);
    return added;
  }

  #newGroup(node: number, kind: number): number {
    const nodeKind = this.#kinds.kinds[kind];
    if (nodeKind === undefined) throw new RangeError(`there is no kind ${kind}`);
    const isSmall = this.#cluster.nodes.length < 2 ** 15;
    return this.#groups.push(new Group(nodeKind, this.#codes(node), isSmall)) - 1;
  }

  #codes(node: number): Int32Array {
    return Int32Array.from(this.#features.all, ({ counter, isCoarse }) => {
      const domain = counter.topology.domainOf[node] ?? NO_DOMAIN;
      return isCoarse || domain === NO_DOMAIN ? domain : counter.at(domain);
    });
  }
}
