import { keyOf, type KubeObject, nodeMetrics, type NodeMetrics, podMetrics, type PodMetrics } from "@evenkeel/kube";
import { type Measured, measuredNode, measuredPod, type Usage } from "../usage/usage.ts";
import { type ClusterObjects, type ObservedKind, observedTypes } from "./cluster-objects.ts";

/** The objects of a cluster that are read once, from files or with LISTs. */
export class CollectedObjects {
  readonly types = observedTypes();
  readonly #kinds = new Map<string, ObservedKind>();
  readonly #collected = new Map<ObservedKind, Map<string, KubeObject>>();
  readonly #nodeUsage = new Map<string, Measured>();
  readonly #podUsage = new Map<string, Measured>();

  constructor() {
    for (const [name, { type }] of Object.entries(this.types)) {
      this.#kinds.set(kindKey(type.group, type.kind), name as ObservedKind);
      this.#collected.set(name as ObservedKind, new Map());
    }
  }

  /**
   * Keeps what a plan needs of the object. False if it needs nothing of this kind. An object that comes again replaces.
   */
  add(object: KubeObject): boolean {
    const group = object.apiVersion?.includes("/") === true ? object.apiVersion.split("/", 1)[0] : "";
    const key = kindKey(group ?? "", object.kind ?? "");
    if (key === NODE_METRICS) this.#nodeUsage.set(keyOf(object), measuredNode(object as NodeMetrics));
    else if (key === POD_METRICS) this.#podUsage.set(keyOf(object), measuredPod(object as PodMetrics));
    else {
      const kind = this.#kinds.get(key);
      if (kind === undefined) return false;
      this.#collected.get(kind)?.set(keyOf(object), this.types[kind].keep(object));
    }
    return true;
  }

  count(kind: ObservedKind): number {
    return this.#collected.get(kind)?.size ?? 0;
  }

  get objects(): ClusterObjects {
    const lists = [...this.#collected].map(([kind, objects]) => [kind, [...objects.values()]] as const);
    return Object.fromEntries(lists) as unknown as ClusterObjects;
  }

  /** The measurements among the objects. */
  get usage(): Usage {
    return { nodes: this.#nodeUsage, pods: this.#podUsage };
  }
}

const NODE_METRICS = kindKey(nodeMetrics.group, nodeMetrics.kind);
const POD_METRICS = kindKey(podMetrics.group, podMetrics.kind);

function kindKey(group: string, kind: string): string {
  return `${group}/${kind}`;
}
