import { CarriedTerms } from "./carried-terms.ts";
import { Cluster } from "./cluster.ts";
import type { Labels, NodeFacts, PodShape } from "./facts.ts";
import { FeatureFinder } from "./features.ts";
import { Interned } from "./interned.ts";
import { type Landing, nodesToFind } from "./landing.ts";
import { nodeFilterKey } from "./node-filters.ts";
import { type NodeKinds, nodeKinds } from "./node-kinds.ts";
import { type FilterReason, type NodeScore, ShapeView } from "./shape-view.ts";

/** How a pod leaves its node. It is `terminating` for its grace period, and `gone` after that. */
export type Departure = "terminating" | "gone";

/**
 * A model of one cluster and its default kube-scheduler. Nodes and shapes are numbers: the order in which they were
 * given. Questions about shapes that were asked before cost little: a change of the cluster makes only the nodes that
 * changed be looked at again.
 */
export class Placement {
  readonly #cluster: Cluster;
  readonly #terms: CarriedTerms;
  readonly #finder: FeatureFinder;
  readonly #kinds = new Interned<NodeKinds>();
  #views = new Map<number, ShapeView>();

  constructor(
    nodes: readonly NodeFacts[],
    shapes: readonly PodShape[],
    namespaces: Readonly<Record<string, Labels>> = {},
  ) {
    this.#cluster = new Cluster(nodes, namespaces);
    this.#terms = new CarriedTerms(this.#cluster);
    this.#finder = new FeatureFinder(this.#cluster, this.#terms);
    for (const shape of shapes) this.addShape(shape);
  }

  get nodes(): readonly NodeFacts[] {
    return this.#cluster.nodes;
  }

  /** Makes one more shape known, and returns its number. */
  addShape(shape: PodShape): number {
    // Terms of the new shape may select shapes that have a view.
    if (this.#terms.add(shape)) this.#views = new Map();
    return this.#cluster.addShape(shape);
  }

  /** A pod of the shape runs on the node. */
  add(shape: number, node: number): void {
    this.#cluster.change(shape, node, "running", 1);
  }

  /** A running pod of the shape is gone from the node. */
  remove(shape: number, node: number): void {
    this.#cluster.change(shape, node, "running", -1);
  }

  /**
   * A running pod of the shape is being deleted: it still takes room, ports and affinity, and no longer counts in
   * spread.
   */
  terminate(shape: number, node: number): void {
    this.#cluster.change(shape, node, "running", -1);
    this.#cluster.change(shape, node, "terminating", 1);
  }

  /** A pod of the shape that was being deleted is gone. */
  removeTerminated(shape: number, node: number): void {
    this.#cluster.change(shape, node, "terminating", -1);
  }

  /** Why the scheduler would not put a pod of the shape on the node; undefined if it would. */
  whyNot(shape: number, node: number): FilterReason | undefined {
    return this.#view(shape).whyNot(node);
  }

  /** The nodes that pass all filters. */
  feasible(shape: number): readonly number[] {
    const view = this.#view(shape);
    return this.nodes.flatMap((_, node) => (view.whyNot(node) === undefined ? [node] : []));
  }

  /** What each plugin gives to each of some feasible nodes; scores depend on which nodes are compared. */
  scores(shape: number, among: readonly number[] = this.feasible(shape)): readonly NodeScore[] {
    return this.#view(shape).scores(among);
  }

  /** The feasible nodes with the best score of all; empty where the choice is not modelled. */
  best(shape: number): readonly number[] {
    return this.#view(shape)
      .landing(Infinity, Infinity)
      .map(({ node }) => node);
  }

  /**
   * Where a new pod of the shape would run, most likely first; empty where no node takes it or the choice is not
   * modelled. Nodes of no account are left out, and at most `most` are named.
   */
  landing(shape: number, most = Infinity): readonly Landing[] {
    return this.#view(shape).landing(nodesToFind(this.nodes.length), most);
  }

  /** Where the replacement of a pod would run if that pod left its node. The model stays as it is. */
  landingAfter(shape: number, node: number, departure: Departure, most = Infinity): readonly Landing[] {
    const view = this.#view(shape);
    // Up to date first, so that only the two shifts are seen on top.
    view.catchUp();
    this.#cluster.shift(shape, node, "running", -1);
    if (departure === "terminating") this.#cluster.shift(shape, node, "terminating", 1);
    view.refresh(node);
    try {
      return this.landing(shape, most);
    } finally {
      if (departure === "terminating") this.#cluster.shift(shape, node, "terminating", -1);
      this.#cluster.shift(shape, node, "running", 1);
      view.refresh(node);
    }
  }

  #view(index: number): ShapeView {
    const known = this.#views.get(index);
    if (known !== undefined) return known;
    const shape = this.#cluster.shape(index);
    const features = this.#finder.find(shape);
    const topologies = features.all.map(({ counter, isCoarse }) => [this.#idOf(counter.topology), isCoarse]);
    const kinds = this.#kinds.get(JSON.stringify([nodeFilterKey(shape), topologies]), () =>
      nodeKinds(shape, features.all, this.nodes),
    );
    const view = new ShapeView(this.#cluster, index, features, kinds);
    this.#views.set(index, view);
    return view;
  }

  readonly #topologyIds = new Map<object, number>();

  #idOf(topology: object): number {
    const known = this.#topologyIds.get(topology) ?? this.#topologyIds.size;
    this.#topologyIds.set(topology, known);
    return known;
  }
}
