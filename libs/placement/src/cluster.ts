import { Counter, type CounterOptions } from "./counter.ts";
import type { Labels, NodeFacts, PodShape } from "./facts.ts";
import { Interned } from "./interned.ts";
import { ImageLocality } from "./plugins/image-locality.ts";
import { type Demand, NodeResources } from "./plugins/node-resources.ts";
import { portsConflict } from "./plugins/node-ports.ts";
import { VolumeUse } from "./plugins/volumes.ts";
import { searchOrder } from "./search-order.ts";
import { Topology } from "./topology.ts";

/** How many times a pod of a shape counts in a counter. */
type Counts = (shape: PodShape) => number;

interface Counted {
  readonly counter: Counter;
  readonly times: number;
}

interface ShapeEntry {
  readonly shape: PodShape;
  readonly demand: Demand;
  /** The node of each pod, in no order. */
  readonly running: number[];
  readonly terminating: number[];
  readonly counted: Counted[];
}

export type PodState = "running" | "terminating";

/** Nodes, the pods on them, and what is counted of them. It knows nothing of scores. */
export class Cluster {
  readonly nodes: readonly NodeFacts[];
  readonly resources: NodeResources;
  readonly volumes: VolumeUse;
  readonly images: ImageLocality;
  readonly searchOrder: readonly number[];
  readonly #namespaces: Readonly<Record<string, Labels>>;
  readonly #shapes: ShapeEntry[] = [];
  readonly #shapesOf = new Map<string, ShapeEntry[]>();
  readonly #topologies = new Interned<Topology>();
  readonly #counters = new Interned<Counter>();
  readonly #counting: { readonly counter: Counter; readonly counts: Counts }[] = [];
  /** Shapes with host ports on a node, and how many pods they have there. */
  readonly #portUsers = new Map<number, Map<PodShape, number>>();
  /** Nodes in the order in which they changed, without the first `#forgotten`. */
  #changes: number[] = [];
  #forgotten = 0;

  constructor(nodes: readonly NodeFacts[], namespaces: Readonly<Record<string, Labels>>) {
    this.nodes = nodes;
    this.#namespaces = namespaces;
    this.resources = new NodeResources(nodes);
    this.volumes = new VolumeUse(nodes);
    this.images = new ImageLocality(nodes);
    this.searchOrder = searchOrder(nodes);
  }

  readonly labelsOfNamespace = (namespace: string): Labels => this.#namespaces[namespace] ?? {};

  /** Counts changes of nodes, for {@link changeAfter}. */
  get version(): number {
    return this.#forgotten + this.#changes.length;
  }

  /** Changes before this version are forgotten. */
  get oldestVersion(): number {
    return this.#forgotten;
  }

  /** The node that the change after that version was of. */
  changeAfter(version: number): number {
    return this.#changes[version - this.#forgotten] ?? 0;
  }

  shape(index: number): PodShape {
    return this.#entry(index).shape;
  }

  demand(index: number): Demand {
    return this.#entry(index).demand;
  }

  addShape(shape: PodShape): number {
    const counted = this.#counting.flatMap(({ counter, counts }) => {
      const times = counts(shape);
      return times === 0 ? [] : [{ counter, times }];
    });
    const entry = { shape, demand: this.resources.demand(shape), running: [], terminating: [], counted };
    this.#shapes.push(entry);
    const siblings = this.#shapesOf.get(shape.namespace);
    if (siblings === undefined) this.#shapesOf.set(shape.namespace, [entry]);
    else siblings.push(entry);
    return this.#shapes.length - 1;
  }

  topology(key: string): Topology {
    return this.#topologies.get(
      `label ${key}`,
      () => new Topology(this.nodes, ({ labels }) => (Object.hasOwn(labels, key) ? labels[key] : undefined)),
    );
  }

  /** Each node that has the label is a domain of its own, even if another has the same value. */
  nodeTopology(key: string): Topology {
    return this.#topologies.get(
      `node ${key}`,
      () => new Topology(this.nodes, ({ labels }, index) => (Object.hasOwn(labels, key) ? index : undefined)),
    );
  }

  /**
   * The counter of that key, made and filled at first use. Null for `namespaces` means that shapes of any may count.
   */
  counter(key: string, options: CounterOptions, namespaces: readonly string[] | null, counts: Counts): Counter {
    return this.#counters.get(key, () => {
      const counter = new Counter(options);
      this.#counting.push({ counter, counts });
      const asked = namespaces?.flatMap((namespace) => this.#shapesOf.get(namespace) ?? []) ?? this.#shapes;
      for (const entry of asked) {
        const times = counts(entry.shape);
        if (times === 0) continue;
        entry.counted.push({ counter, times });
        for (const node of entry.running) counter.change(node, times);
        if (!counter.countsTerminating) continue;
        for (const node of entry.terminating) counter.change(node, times);
      }
      return counter;
    });
  }

  /** Adds a pod of a shape to a node, or takes one away. */
  change(shape: number, node: number, state: PodState, by: 1 | -1): void {
    const nodes = this.#entry(shape)[state];
    if (by === 1) nodes.push(node);
    else takeOne(nodes, node);
    this.shift(shape, node, state, by);
    this.#note(node);
  }

  /** As `change`, without a notice: for a trial that is undone at once. */
  shift(index: number, node: number, state: PodState, pods: number): void {
    const { shape, demand, counted } = this.#entry(index);
    this.resources.change(demand, node, pods);
    if (shape.hostPorts.length > 0) this.#usePorts(shape, node, pods);
    if (shape.volumes.length > 0) this.volumes.change(shape.volumes, node, pods);
    for (const { counter, times } of counted) {
      if (state === "running" || counter.countsTerminating) counter.change(node, times * pods);
    }
  }

  /** NodePorts: whether a pod there has a port that this shape wants. */
  portsTaken({ hostPorts }: PodShape, node: number): boolean {
    const users = this.#portUsers.get(node);
    if (hostPorts.length === 0 || users === undefined) return false;
    return [...users.keys()].some((user) =>
      user.hostPorts.some((used) => hostPorts.some((wanted) => portsConflict(used, wanted))),
    );
  }

  #note(node: number): void {
    this.#changes.push(node);
    if (this.#changes.length < 2 * this.#changesKept) return;
    this.#forgotten += this.#changesKept;
    this.#changes = this.#changes.slice(this.#changesKept);
  }

  /** Whoever missed more changes than there are nodes had better look at all nodes. */
  get #changesKept(): number {
    return Math.max(this.nodes.length, 1000);
  }

  #usePorts(shape: PodShape, node: number, pods: number): void {
    const users = this.#portUsers.get(node) ?? new Map<PodShape, number>();
    this.#portUsers.set(node, users);
    const after = (users.get(shape) ?? 0) + pods;
    if (after === 0) users.delete(shape);
    else users.set(shape, after);
  }

  #entry(index: number): ShapeEntry {
    const entry = this.#shapes[index];
    if (entry === undefined) throw new RangeError(`there is no shape ${index}`);
    return entry;
  }
}

/** Takes one of equal values out of a list, whose order does not matter. */
function takeOne(values: number[], value: number): void {
  const at = values.lastIndexOf(value);
  const last = values.pop();
  if (at === -1 || last === undefined) throw new RangeError(`there is no pod on node ${value}`);
  if (at < values.length) values[at] = last;
}
