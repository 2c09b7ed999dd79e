import {
  type FilterReason,
  type Labels,
  nodeFacts,
  type NodeFacts,
  Placement,
  type PodShape,
} from "@evenkeel/placement";
import { keyOf, type StoredObject } from "../../object.ts";
import type { Store } from "../../storage/store.ts";
import { isGoing, tables } from "../object-state.ts";
import { isNodeReady } from "./node-ready.ts";
import { shapeOf } from "./pod-shapes.ts";

/** A shape that pods have, with its number in the model of the moment. */
interface KnownShape {
  readonly shape: PodShape;
  index: number | undefined;
}

/** A pod that takes up room of a node. */
interface PlacedPod {
  readonly shape: KnownShape;
  readonly node: string;
  readonly isTerminating: boolean;
}

/** A node that takes a pod, or how many nodes do not, by reason. */
export type Choice = { readonly node: string } | Refusals;

export interface Refusals {
  readonly reasons: ReadonlyMap<string, number>;
  /** One more pod somewhere may change the answer; otherwise only more room does. */
  readonly waitsForPods: boolean;
}

/** The scheduler's model of the world, kept in step with it. It is made anew after a node changed. */
export class ClusterModel {
  readonly #store: Store;
  readonly #nodes = new Map<string, { readonly facts: NodeFacts; readonly text: string; readonly isUsable: boolean }>();
  readonly #pods = new Map<string, PlacedPod>();
  readonly #shapes = new Map<string, KnownShape>();
  #model: Placement | undefined;
  #indexOf = new Map<string, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  setNode(node: StoredObject): void {
    const facts = nodeFacts(node);
    const isUsable = isNodeReady(node) && !isGoing(node);
    const text = JSON.stringify([facts, isUsable]);
    if (this.#nodes.get(facts.name)?.text === text) return;
    this.#nodes.set(facts.name, { facts, text, isUsable });
    this.reset();
  }

  removeNode(name: string): void {
    if (this.#nodes.delete(name)) this.reset();
  }

  /** Forgets the model, which the next question makes anew. */
  reset(): void {
    this.#model = undefined;
  }

  /** The pod takes up room of a node. Tells whether that is news. */
  setPod(pod: StoredObject, node: string): boolean {
    const key = keyOf(pod);
    const known = this.#pods.get(key);
    const isTerminating = isGoing(pod);
    if (known?.node === node && known.isTerminating === isTerminating) return false;
    this.removePod(key);
    const placed = { shape: known?.shape ?? this.#shapeOf(pod), node, isTerminating };
    this.#pods.set(key, placed);
    if (this.#model !== undefined) this.#put(this.#model, placed);
    return true;
  }

  /** The pod takes up no room. Tells whether it did. */
  removePod(key: string): boolean {
    const placed = this.#pods.get(key);
    if (placed === undefined) return false;
    this.#pods.delete(key);
    const index = this.#indexOf.get(placed.node);
    if (this.#model === undefined || index === undefined) return true;
    const shape = this.#numberOf(this.#model, placed.shape);
    if (placed.isTerminating) this.#model.removeTerminated(shape, index);
    else this.#model.remove(shape, index);
    return true;
  }

  /** The node with the best score, the first by name among equals. */
  choose(pod: StoredObject): Choice {
    const model = (this.#model ??= this.#build());
    const shape = this.#numberOf(model, this.#shapeOf(pod));
    const best = model.best(shape);
    if (best.length > 0) return { node: model.nodes[Math.min(...best)]?.name ?? "" };
    const reasons = new Map<string, number>();
    const count = (reason: string): void => void reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    for (const { isUsable } of this.#nodes.values()) if (!isUsable) count("node(s) were not ready");
    const refusals = model.nodes.map((_, index) => model.whyNot(shape, index) ?? "Unmodelled");
    for (const reason of refusals) count(WORDS[reason]);
    return { reasons, waitsForPods: refusals.some((reason) => reason === "PodAffinity" || reason === "SpreadSkew") };
  }

  get nodeCount(): number {
    return this.#nodes.size;
  }

  #build(): Placement {
    const usable = [...this.#nodes.values()].filter(({ isUsable }) => isUsable).map(({ facts }) => facts);
    const nodes = usable.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const namespaces = this.#store.table(tables.namespaces).objects();
    const labels = namespaces.map(({ metadata }): [string, Labels] => [metadata.name, metadata.labels ?? {}]);
    const model = new Placement(nodes, [], Object.fromEntries(labels));
    this.#indexOf = new Map(nodes.map(({ name }, index) => [name, index]));
    this.#forgetUnusedShapes();
    for (const placed of this.#pods.values()) this.#put(model, placed);
    return model;
  }

  #put(model: Placement, { shape, node, isTerminating }: PlacedPod): void {
    const index = this.#indexOf.get(node);
    if (index === undefined) return;
    const number = this.#numberOf(model, shape);
    model.add(number, index);
    if (isTerminating) model.terminate(number, index);
  }

  #shapeOf(pod: StoredObject): KnownShape {
    const shape = shapeOf(pod, this.#store);
    const text = JSON.stringify(shape);
    const known = this.#shapes.get(text) ?? { shape, index: undefined };
    this.#shapes.set(text, known);
    return known;
  }

  #numberOf(model: Placement, known: KnownShape): number {
    return (known.index ??= model.addShape(known.shape));
  }

  #forgetUnusedShapes(): void {
    const used = new Set([...this.#pods.values()].map(({ shape }) => shape));
    for (const [text, known] of this.#shapes) {
      known.index = undefined;
      if (!used.has(known)) this.#shapes.delete(text);
    }
  }
}

/** The scheduler's words for a reason, which people know from `kubectl describe`. */
const WORDS: Readonly<Record<FilterReason, string>> = {
  NodeUnschedulable: "node(s) were unschedulable",
  NodeName: "node(s) didn't match the requested node name",
  UntoleratedTaint: "node(s) had untolerated taint(s)",
  NodeAffinity: "node(s) didn't match Pod's node affinity/selector",
  HostPorts: "node(s) didn't have free ports for the requested pod ports",
  TooManyPods: "Too many pods",
  InsufficientCpu: "Insufficient cpu",
  InsufficientMemory: "Insufficient memory",
  InsufficientEphemeralStorage: "Insufficient ephemeral-storage",
  InsufficientResource: "Insufficient extended resource",
  VolumeInUse: "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
  VolumeLimit: "node(s) exceed max volume count",
  VolumeNodeAffinity: "node(s) didn't match PersistentVolume's node affinity",
  VolumeZone: "node(s) had no available volume zone",
  SpreadLabelMissing: "node(s) didn't match pod topology spread constraints (missing required label)",
  SpreadSkew: "node(s) didn't match pod topology spread constraints",
  PodAffinity: "node(s) didn't match pod affinity rules",
  PodAntiAffinity: "node(s) didn't match pod anti-affinity rules",
  AntiAffinityOfOthers: "node(s) didn't satisfy existing pods anti-affinity rules",
  Unmodelled: "node(s) could not be judged, since the pod needs what is not simulated",
};
