import type { CarriedTerms } from "./carried-terms.ts";
import type { Cluster } from "./cluster.ts";
import type { Counter } from "./counter.ts";
import type { PodAffinityTerm, PodShape, SpreadConstraint } from "./facts.ts";
import { Interned } from "./interned.ts";
import { matcherOf } from "./label-selector.ts";
import { termMatcher } from "./plugins/inter-pod-affinity.ts";
import { matchesNodeAffinity } from "./plugins/node-affinity.ts";
import { hasUntoleratedTaint } from "./plugins/taint-toleration.ts";
import { hardSpread, HOSTNAME, isEmptySelector, softSpread, type SpreadRules } from "./plugins/topology-spread.ts";

/**
 * A counter that matters to a shape. A node's code is its domain where the feature is coarse, and the count of its
 * domain where it is fine. Nodes with equal codes in all features are alike for the shape, apart from their resources.
 */
export interface Feature {
  readonly counter: Counter;
  readonly isCoarse: boolean;
}

export interface SpreadFeature {
  readonly feature: number;
  readonly constraint: SpreadConstraint;
  /** The pod itself counts once it is there. */
  readonly countsItself: boolean;
  readonly isHostname: boolean;
}

/** All that other pods mean for a shape. Numbers are indexes into `all`. */
export interface Features {
  readonly all: readonly Feature[];
  readonly hardSpread: readonly SpreadFeature[];
  readonly softSpread: readonly SpreadFeature[];
  /** Nodes without all labels of the soft constraints score 0. */
  readonly softNeedsAllLabels: boolean;
  /** There has to be a pod in each of these domains. */
  readonly wanted: readonly number[];
  /** The pod matches its own required terms, so it may be the first of its group. */
  readonly wantsItself: boolean;
  /** There must be no pod in these domains: by terms of the shape, and by terms of other pods. */
  readonly avoided: readonly number[];
  readonly avoiding: readonly number[];
  readonly preferences: readonly { readonly feature: number; readonly weight: number }[];
}

/** Finds the features of shapes. */
export class FeatureFinder {
  readonly #cluster: Cluster;
  readonly #terms: CarriedTerms;
  readonly #eligible = new Interned<{ readonly key: string; readonly nodes: Uint8Array | null }>();

  constructor(cluster: Cluster, terms: CarriedTerms) {
    this.#cluster = cluster;
    this.#terms = terms;
  }

  find(shape: PodShape): Features {
    const all: Feature[] = [];
    const add = (counter: Counter, isCoarse = counter.topology.isCoarse): number => {
      const known = all.findIndex((feature) => feature.counter === counter && feature.isCoarse === isCoarse);
      return known >= 0 ? known : all.push({ counter, isCoarse }) - 1;
    };
    const [hard, soft] = [hardSpread(shape), softSpread(shape)];
    const about = this.#terms.about(shape);
    const { required, preferred } = shape.affinity;
    return {
      hardSpread: hard.constraints.map((one) => spreadFeature(shape, one, add(this.#hardCounter(shape, one, hard)))),
      softSpread: soft.constraints.map((one) => {
        const isHostname = one.topologyKey === HOSTNAME;
        const counter = this.#softCounter(shape, one, soft);
        // The number of domains is part of the score, so nodes of two domains are never alike.
        return spreadFeature(shape, one, isHostname ? add(counter) : add(counter, true));
      }),
      softNeedsAllLabels: soft.needsAllLabels,
      wanted: required.map((term) => add(this.#termCounter(term, required))),
      wantsItself: required.every((term) => termMatcher(term, this.#cluster.labelsOfNamespace)(shape)),
      avoided: shape.antiAffinity.required.map((term) => add(this.#termCounter(term, [term]))),
      avoiding: about.flatMap(({ counter, feeling }) => (feeling.forbids ? [add(counter)] : [])),
      preferences: [
        ...preferred.map(({ weight, term }) => ({ weight, feature: add(this.#termCounter(term, [term])) })),
        ...shape.antiAffinity.preferred.map(({ weight, term }) => ({
          weight: -weight,
          feature: add(this.#termCounter(term, [term])),
        })),
        ...about.flatMap(({ counter, feeling }) =>
          feeling.forbids ? [] : [{ weight: feeling.weight, feature: add(counter) }],
        ),
      ],
      all,
    };
  }

  /** Counts pods that match all of `terms`, in the domains of one of them. */
  #termCounter({ topologyKey }: PodAffinityTerm, terms: readonly PodAffinityTerm[]): Counter {
    const topology = this.#cluster.topology(topologyKey);
    const matchers = terms.map((term) => termMatcher(term, this.#cluster.labelsOfNamespace));
    const anyNamespace = terms.some(({ namespaces }) => namespaces.selector !== null);
    const names = terms.flatMap(({ namespaces }) => namespaces.names);
    return this.#cluster.counter(
      `selected ${JSON.stringify([topologyKey, terms])}`,
      { topology, countsTerminating: true, eligible: null },
      anyNamespace ? null : [...new Set(names)],
      (shape) => (matchers.every((matches) => matches(shape)) ? 1 : 0),
    );
  }

  /**
   * A host name counts the pods of the node itself; it is one of the nodes where the pod may run, so any policy allows
   * it.
   */
  #softCounter(shape: PodShape, constraint: SpreadConstraint, rules: SpreadRules): Counter {
    return constraint.topologyKey === HOSTNAME
      ? this.#spreadCounter(shape, constraint, null)
      : this.#hardCounter(shape, constraint, rules);
  }

  #hardCounter(shape: PodShape, constraint: SpreadConstraint, rules: SpreadRules): Counter {
    return this.#spreadCounter(shape, constraint, this.#eligibleNodes(shape, constraint, rules));
  }

  #spreadCounter(
    { namespace }: PodShape,
    { topologyKey, selector }: SpreadConstraint,
    eligible: { readonly key: string; readonly nodes: Uint8Array | null } | null,
  ): Counter {
    const topology = eligible === null ? this.#cluster.nodeTopology(topologyKey) : this.#cluster.topology(topologyKey);
    const matches = selector !== null && isEmptySelector(selector) ? () => false : matcherOf(selector);
    return this.#cluster.counter(
      `spread ${JSON.stringify([topologyKey, namespace, selector, eligible?.key ?? "node"])}`,
      { topology, countsTerminating: false, eligible: eligible?.nodes ?? null },
      [namespace],
      (other) => (other.namespace === namespace && matches(other.labels) ? 1 : 0),
    );
  }

  /** Nodes whose pods count, by the policies of the constraint. */
  #eligibleNodes(
    shape: PodShape,
    { honorAffinity, honorTaints }: SpreadConstraint,
    { constraints, needsAllLabels }: SpreadRules,
  ): { readonly key: string; readonly nodes: Uint8Array | null } {
    const { nodeSelector, requiredNodes, tolerations } = shape;
    const keys = needsAllLabels ? constraints.map(({ topologyKey }) => topologyKey) : [];
    const affinity = honorAffinity ? [nodeSelector, requiredNodes] : null;
    const key = JSON.stringify([keys, affinity, honorTaints ? tolerations : null]);
    return this.#eligible.get(key, () => {
      const nodes = Uint8Array.from(this.#cluster.nodes, (node) =>
        keys.every((label) => Object.hasOwn(node.labels, label)) &&
        (!honorAffinity || matchesNodeAffinity(shape, node)) &&
        !(honorTaints && hasUntoleratedTaint(node.taints, tolerations))
          ? 1
          : 0,
      );
      return { key, nodes: nodes.includes(0) ? nodes : null };
    });
  }
}

function spreadFeature(shape: PodShape, constraint: SpreadConstraint, feature: number): SpreadFeature {
  const countsItself = matcherOf(constraint.selector)(shape.labels);
  return { feature, constraint, countsItself, isHostname: constraint.topologyKey === HOSTNAME };
}
