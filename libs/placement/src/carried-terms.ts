import type { Cluster } from "./cluster.ts";
import type { Counter } from "./counter.ts";
import type { PodAffinityTerm, PodShape } from "./facts.ts";
import { REQUIRED_TERM_WEIGHT, termMatcher } from "./plugins/inter-pod-affinity.ts";

/** How a pod that runs already feels about pods that a term of its own selects. */
export type Feeling = { readonly forbids: true } | { readonly forbids: false; readonly weight: number };

interface CarriedTerm {
  readonly key: string;
  readonly term: PodAffinityTerm;
  readonly feeling: Feeling;
  readonly selects: (shape: PodShape) => boolean;
  /** How many times a shape carries the term. */
  readonly carriers: Map<PodShape, number>;
}

/** The affinity terms of all shapes, which bind other pods too: they look at new pods from the other side. */
export class CarriedTerms {
  readonly #cluster: Cluster;
  readonly #terms = new Map<string, CarriedTerm>();
  /** By namespace that a term names; terms that select namespaces by label are under null. */
  readonly #byNamespace = new Map<string | null, Set<CarriedTerm>>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Tells whether the shape carries terms at all. */
  add(shape: PodShape): boolean {
    const { affinity, antiAffinity } = shape;
    for (const term of affinity.required) this.#carry(shape, term, { forbids: false, weight: REQUIRED_TERM_WEIGHT });
    for (const { weight, term } of affinity.preferred) this.#carry(shape, term, { forbids: false, weight });
    for (const term of antiAffinity.required) this.#carry(shape, term, { forbids: true });
    for (const { weight, term } of antiAffinity.preferred)
      this.#carry(shape, term, { forbids: false, weight: -weight });
    return [affinity, antiAffinity].some(({ required, preferred }) => required.length + preferred.length > 0);
  }

  /** Counters of pods that carry a term which selects the shape. */
  about(shape: PodShape): readonly { readonly counter: Counter; readonly feeling: Feeling }[] {
    const candidates = [shape.namespace, null].flatMap((namespace) => [...(this.#byNamespace.get(namespace) ?? [])]);
    return [...new Set(candidates)]
      .filter(({ selects }) => selects(shape))
      .map((carried) => ({ counter: this.#counter(carried), feeling: carried.feeling }));
  }

  #counter({ key, term, carriers }: CarriedTerm): Counter {
    const topology = this.#cluster.topology(term.topologyKey);
    const options = { topology, countsTerminating: true, eligible: null };
    const namespaces = [...new Set([...carriers.keys()].map(({ namespace }) => namespace))];
    return this.#cluster.counter(`carried ${key}`, options, namespaces, (shape) => carriers.get(shape) ?? 0);
  }

  #carry(shape: PodShape, term: PodAffinityTerm, feeling: Feeling): void {
    const key = JSON.stringify([feeling, term]);
    const known = this.#terms.get(key);
    if (known !== undefined) {
      known.carriers.set(shape, (known.carriers.get(shape) ?? 0) + 1);
      return;
    }
    const selects = termMatcher(term, this.#cluster.labelsOfNamespace);
    const carried = { key, term, feeling, selects, carriers: new Map([[shape, 1]]) };
    this.#terms.set(key, carried);
    const namespaces = term.namespaces.selector === null ? term.namespaces.names : [null];
    for (const namespace of namespaces) {
      const terms = this.#byNamespace.get(namespace) ?? new Set();
      this.#byNamespace.set(namespace, terms.add(carried));
    }
  }
}
