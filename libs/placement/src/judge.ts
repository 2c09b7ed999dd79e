import type { Feature, Features } from "./features.ts";
import type { NodeKind } from "./node-kinds.ts";
import { affinityScore } from "./plugins/inter-pod-affinity.ts";
import { nodeAffinityScore } from "./plugins/node-affinity.ts";
import { taintScore } from "./plugins/taint-toleration.ts";
import { crowding, keepsSkew, spreadScore } from "./plugins/topology-spread.ts";
import { NO_DOMAIN } from "./topology.ts";

/** Why other pods keep a pod away from a node. */
export type NeighbourReason =
  "SpreadLabelMissing" | "SpreadSkew" | "PodAffinity" | "PodAntiAffinity" | "AntiAffinityOfOthers";

/** A node, or several that are alike, with what is found out about them. */
export interface Judged {
  readonly kind: NodeKind;
  readonly codes: Int32Array;
  readonly size: number;
  isIgnored: boolean;
  crowding: number;
  weight: number;
}

/** The least and the most that nodes have of each thing that is compared between nodes. */
export interface Ranges {
  readonly mostTaints: number;
  readonly mostPreference: number;
  readonly leastCrowding: number;
  readonly mostCrowding: number;
  readonly leastWeight: number;
  readonly mostWeight: number;
}

export interface NeighbourScores {
  readonly TaintToleration: number;
  readonly NodeAffinity: number;
  readonly PodTopologySpread: number;
  readonly InterPodAffinity: number;
}

/** Judges nodes for one shape by the pods around them. */
export class Judge {
  readonly #features: Features;

  constructor(features: Features) {
    this.#features = features;
  }

  whyNot(codes: Int32Array): NeighbourReason | undefined {
    const { all, hardSpread, wanted, wantsItself, avoided, avoiding } = this.#features;
    for (const { feature, constraint, countsItself } of hardSpread) {
      const { counter } = featureAt(all, feature);
      const count = this.#count(feature, codes);
      if (count === NO_DOMAIN) return "SpreadLabelMissing";
      if (!keepsSkew(constraint, count, countsItself, counter.least, counter.domains.size)) return "SpreadSkew";
    }
    let hasAll = true;
    for (const feature of wanted) {
      const count = this.#count(feature, codes);
      if (count === NO_DOMAIN) return "PodAffinity";
      if (count === 0) hasAll = false;
    }
    if (!hasAll) {
      const isFirst = wantsItself && wanted.every((feature) => featureAt(all, feature).counter.total === 0);
      if (!isFirst) return "PodAffinity";
    }
    if (this.#hasPods(avoided, codes)) return "PodAntiAffinity";
    return this.#hasPods(avoiding, codes) ? "AntiAffinityOfOthers" : undefined;
  }

  #hasPods(features: readonly number[], codes: Int32Array): boolean {
    for (const feature of features) if (this.#count(feature, codes) > 0) return true;
    return false;
  }

  /** Works out what is compared between nodes, with at most `scored` of them taken into the comparison. */
  compare(nodes: readonly Judged[], scored: number): Ranges {
    const { softSpread, preferences } = this.#features;
    const domains = this.#domains(nodes, scored);
    let [mostTaints, mostPreference] = [0, 0];
    let [leastCrowding, mostCrowding] = [Infinity, 0];
    let [leastWeight, mostWeight] = [Infinity, -Infinity];
    for (const node of nodes) {
      const { kind, codes } = node;
      if (kind.taints > mostTaints) mostTaints = kind.taints;
      if (kind.preference > mostPreference) mostPreference = kind.preference;
      node.weight = 0;
      for (const { feature, weight } of preferences) {
        const count = this.#count(feature, codes);
        if (count > 0) node.weight += weight * count;
      }
      if (node.weight < leastWeight) leastWeight = node.weight;
      if (node.weight > mostWeight) mostWeight = node.weight;
      if (softSpread.length === 0 || node.isIgnored) continue;
      node.crowding = this.#crowding(codes, domains);
      if (node.crowding < leastCrowding) leastCrowding = node.crowding;
      if (node.crowding > mostCrowding) mostCrowding = node.crowding;
    }
    return { mostTaints, mostPreference, leastCrowding, mostCrowding, leastWeight, mostWeight };
  }

  /** Scores with their weights, as the scheduler adds them up. */
  scores(judged: Judged, ranges: Ranges): NeighbourScores {
    const { kind, weight } = judged;
    return {
      TaintToleration: 3 * taintScore(kind.taints, ranges.mostTaints),
      NodeAffinity: 2 * nodeAffinityScore(kind.preference, ranges.mostPreference),
      PodTopologySpread: 2 * this.#spreadScore(judged, ranges),
      InterPodAffinity: 2 * affinityScore(weight, ranges.leastWeight, ranges.mostWeight),
    };
  }

  #spreadScore({ crowding: crowded, isIgnored }: Judged, { leastCrowding, mostCrowding }: Ranges): number {
    if (this.#features.softSpread.length === 0 || isIgnored) return 0;
    return spreadScore(crowded, leastCrowding, mostCrowding);
  }

  /** How many domains the nodes have for each soft constraint. Tells on the way which nodes are ignored. */
  #domains(nodes: readonly Judged[], scored: number): readonly number[] {
    const { softSpread, softNeedsAllLabels } = this.#features;
    let counted = 0;
    for (const node of nodes) {
      node.isIgnored = softNeedsAllLabels && this.#missesLabel(node.codes);
      if (!node.isIgnored) counted += node.size;
    }
    return softSpread.map(({ feature, isHostname }) =>
      isHostname ? Math.min(counted, scored) : differentCodes(nodes, feature),
    );
  }

  #missesLabel(codes: Int32Array): boolean {
    for (const { feature } of this.#features.softSpread) if (codes[feature] === NO_DOMAIN) return true;
    return false;
  }

  #crowding(codes: Int32Array, domains: readonly number[]): number {
    const { softSpread } = this.#features;
    let sum = 0;
    let at = 0;
    for (const { feature, constraint } of softSpread) {
      const count = this.#count(feature, codes);
      if (count !== NO_DOMAIN) sum += crowding(count, domains[at] ?? 0, constraint.maxSkew);
      at += 1;
    }
    return Math.round(sum);
  }

  /** Pods in the node's domain, or NO_DOMAIN. */
  #count(index: number, codes: Int32Array): number {
    const { counter, isCoarse } = featureAt(this.#features.all, index);
    const code = codes[index] ?? NO_DOMAIN;
    return isCoarse && code !== NO_DOMAIN ? counter.at(code) : code;
  }
}

function differentCodes(nodes: readonly Judged[], feature: number): number {
  const codes = new Set<number>();
  for (const { isIgnored, codes: all } of nodes) if (!isIgnored) codes.add(all[feature] ?? NO_DOMAIN);
  return codes.size;
}

function featureAt(features: readonly Feature[], index: number): Feature {
  const feature = features[index];
  if (feature === undefined) throw new RangeError(`there is no feature ${index}`);
  return feature;
}
