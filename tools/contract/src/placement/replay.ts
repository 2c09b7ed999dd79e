import { type NodeFacts, type NodeScore, Placement, podShape, type PodLookups } from "@evenkeel/placement";
import type { ScheduledPod } from "./scheduled-pods.ts";
import type { SchedulerLog } from "./scheduler-log.ts";

/** What the model said of one pod, next to what kube-scheduler did. */
export interface Comparison {
  /** One line for each feasible node or score in which both differ. */
  readonly differences: readonly string[];
  /** Undefined for a pod without a node. */
  readonly landing: LandingComparison | undefined;
}

export interface LandingComparison {
  /** Nodes that pass all filters. */
  readonly feasible: number;
  /** The real node has the best score that the model gives to any feasible node. */
  readonly isBest: boolean;
  /** The model's probability of the real node. */
  readonly probability: number;
  /** The real node is among the most likely ones that have 90 % in sum. */
  readonly isLikely: boolean;
  /** Sum of squared errors over all nodes: 0 for a certain and right prediction, 2 for a certain and wrong one. */
  readonly brier: number;
}

export interface ReplayedCluster {
  readonly nodes: readonly NodeFacts[];
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly lookups: (pod: ScheduledPod["pod"]) => PodLookups;
  readonly log: SchedulerLog;
}

/** Takes a model through what kube-scheduler did, pod by pod. */
export class Replay {
  readonly #cluster: ReplayedCluster;
  readonly #model: Placement;
  readonly #shapes = new Map<string, number>();
  readonly #nodes: ReadonlyMap<string, number>;

  constructor(cluster: ReplayedCluster) {
    this.#cluster = cluster;
    this.#model = new Placement(cluster.nodes, [], cluster.namespaces);
    this.#nodes = new Map(cluster.nodes.map(({ name }, index) => [name, index]));
  }

  /** The pod is there, and nothing is compared. */
  add(scheduled: ScheduledPod): void {
    this.#add(this.#shapeOf(scheduled), scheduled);
  }

  compare(scheduled: ScheduledPod): Comparison {
    const { pod, node } = scheduled;
    const shape = this.#shapeOf(scheduled);
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    const feasible = this.#model.feasible(shape);
    const differences = this.#differences(key, shape, feasible, node);
    const landing = node === null ? undefined : this.#compareLanding(shape, feasible, this.#nodes.get(node) ?? -1);
    this.#add(shape, scheduled);
    return { differences: differences.map((line) => `${key}: ${line}`), landing };
  }

  #add(shape: number, { node }: ScheduledPod): void {
    const index = this.#nodes.get(node ?? "");
    if (index !== undefined) this.#model.add(shape, index);
  }

  #shapeOf({ pod }: ScheduledPod): number {
    const shape = podShape(pod, this.#cluster.lookups(pod));
    const text = JSON.stringify(shape);
    const known = this.#shapes.get(text) ?? this.#model.addShape(shape);
    this.#shapes.set(text, known);
    return known;
  }

  #differences(key: string, shape: number, feasible: readonly number[], node: string | null): readonly string[] {
    const logged = this.#cluster.log.get(key);
    if (node === null) return feasible.map((index) => `${this.#name(index)} is feasible, and no node was found`);
    if (logged === undefined) {
      const isOnly = feasible.length === 1 && this.#name(feasible[0] ?? -1) === node;
      return isOnly ? [] : [`${feasible.length} nodes are feasible, and ${node} was taken without scores`];
    }
    const scored = [...logged.keys()].map((name) => this.#nodes.get(name) ?? -1);
    const refused = scored.filter((index) => !feasible.includes(index));
    if (refused.length > 0) {
      return refused.map((index) => `${this.#name(index)} was scored: ${this.#model.whyNot(shape, index)}`);
    }
    // With fewer than 100 nodes all feasible ones are scored, and with more the first 100 or so that are found.
    const unscored = feasible.filter((index) => !scored.includes(index));
    const missing = this.#cluster.nodes.length < 100 || scored.length < 100 ? unscored : [];
    return [
      ...missing.map((index) => `${this.#name(index)} is feasible, and was not scored`),
      ...this.#model.scores(shape, scored).flatMap((score) => this.#scoreDifferences(key, score)),
    ];
  }

  #scoreDifferences(key: string, { node, total, plugins }: NodeScore): readonly string[] {
    const name = this.#name(node);
    const logged = this.#cluster.log.get(key)?.get(name);
    const compared = Object.entries({ ...plugins, total }).map(([plugin, points]) => ({
      ...{ plugin, points },
      real: plugin === "total" ? logged?.total : (logged?.plugins.get(plugin) ?? 0),
    }));
    return compared
      .filter(({ points, real }) => points !== real)
      .map(({ plugin, points, real }) => `${plugin} of ${name} is ${points}, and really ${real}`);
  }

  #compareLanding(shape: number, feasible: readonly number[], real: number): LandingComparison {
    const scores = this.#model.scores(shape, feasible);
    const best = Math.max(...scores.map(({ total }) => total));
    const landing = this.#model.landing(shape);
    let before = 0;
    let isLikely = false;
    let brier = 1;
    let probability = 0;
    for (const one of landing) {
      if (one.node === real) {
        isLikely = before < 0.9;
        probability = one.probability;
      }
      before += one.probability;
      brier += one.probability ** 2 - (one.node === real ? 2 * one.probability : 0);
    }
    const isBest = scores.find(({ node }) => node === real)?.total === best;
    return { feasible: feasible.length, isBest, probability, isLikely, brier };
  }

  #name(index: number): string {
    return this.#cluster.nodes[index]?.name ?? `node ${index}`;
  }
}
