import { NONE, POD, type PodColumns } from "../../decide/snapshot.ts";
import type { ObservedPod } from "../cluster/observed-pod.ts";
import type { Usage } from "../usage/usage.ts";
import { podUsage } from "./current-usage.ts";
import type { Owners } from "./owners.ts";
import type { Shapes } from "./shapes.ts";

export interface PodTableOptions {
  readonly nodeIndexes: ReadonlyMap<string, number>;
  readonly shapes: Shapes;
  readonly owners: Owners;
  readonly usage: Usage;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Collects pods, one row each. */
export class PodTable {
  readonly #options: PodTableOptions;
  readonly #workloadKinds = new Map<string, number>();
  readonly #columns = {
    uid: [] as string[],
    name: [] as string[],
    shape: [] as number[],
    node: [] as number[],
    owner: [] as number[],
    priority: [] as number[],
    deletionCost: [] as number[],
    startedAt: [] as number[],
    readySince: [] as number[],
    cpuUsage: [] as number[],
    memoryUsage: [] as number[],
    emptyDirBytes: [] as number[],
    flags: [] as number[],
    workloadKind: [] as number[],
  };

  constructor(options: PodTableOptions) {
    this.#options = options;
  }

  add(pod: ObservedPod): void {
    const { nodeIndexes, shapes, owners, usage, at } = this.#options;
    const { name = "", namespace = "", uid = "" } = pod.metadata;
    const { shape, owner, volumeFlags } = shapes.factsOf(pod.template);
    const { cpu, memory } = podUsage(usage.pods.get(`${namespace}/${name}`), pod.startedAt, at);
    const columns = this.#columns;
    columns.uid.push(uid);
    columns.name.push(name);
    columns.shape.push(shape);
    columns.node.push(pod.node === null ? NONE : (nodeIndexes.get(pod.node) ?? NONE));
    columns.owner.push(owner);
    columns.priority.push(pod.priority);
    columns.deletionCost.push(pod.deletionCost);
    columns.startedAt.push(pod.startedAt);
    columns.readySince.push(pod.readySince);
    columns.cpuUsage.push(cpu);
    columns.memoryUsage.push(memory);
    columns.emptyDirBytes.push(pod.emptyDirBytes);
    columns.flags.push(pod.flags | volumeFlags | (owners.isOtherRevision(pod.template, name) ? POD.otherRevision : 0));
    columns.workloadKind.push(pod.workloadKind === null ? NONE : this.#workloadKindOf(pod.workloadKind));
  }

  get columns(): PodColumns {
    const { uid, name, ...numbers } = this.#columns;
    return {
      ...{ uid, name },
      ...{ shape: Int32Array.from(numbers.shape), node: Int32Array.from(numbers.node) },
      ...{ owner: Int32Array.from(numbers.owner), priority: Int32Array.from(numbers.priority) },
      ...{ deletionCost: Int32Array.from(numbers.deletionCost), flags: Int32Array.from(numbers.flags) },
      ...{ startedAt: Float64Array.from(numbers.startedAt), readySince: Float64Array.from(numbers.readySince) },
      ...{ cpuUsage: Float64Array.from(numbers.cpuUsage), memoryUsage: Float64Array.from(numbers.memoryUsage) },
      emptyDirBytes: Float64Array.from(numbers.emptyDirBytes),
      workloadKind: Int32Array.from(numbers.workloadKind),
      workloadKinds: [...this.#workloadKinds.keys()],
    };
  }

  #workloadKindOf(kind: string): number {
    const known = this.#workloadKinds.get(kind) ?? this.#workloadKinds.size;
    this.#workloadKinds.set(kind, known);
    return known;
  }
}
