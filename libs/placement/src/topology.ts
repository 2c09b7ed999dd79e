import type { NodeFacts } from "./facts.ts";

/** A node without the label of a topology is in no domain. */
export const NO_DOMAIN = -1;

/** With more domains than this, a domain is about as small as a node. */
const MOST_COARSE_DOMAINS = 64;

/** The nodes of a cluster divided by the value of one label. */
export class Topology {
  /** The domain of each node, or NO_DOMAIN. */
  readonly domainOf: Int32Array;
  readonly size: number;
  #nodesOf: number[][] | undefined;

  constructor(nodes: readonly NodeFacts[], valueOf: (node: NodeFacts, index: number) => string | number | undefined) {
    const domains = new Map<string | number, number>();
    this.domainOf = Int32Array.from(nodes, (node, index) => {
      const value = valueOf(node, index);
      if (value === undefined) return NO_DOMAIN;
      const known = domains.get(value);
      if (known !== undefined) return known;
      domains.set(value, domains.size);
      return domains.size - 1;
    });
    this.size = domains.size;
  }

  /** Few domains with many nodes each, such as zones, in contrast to host names. */
  get isCoarse(): boolean {
    return this.size <= MOST_COARSE_DOMAINS;
  }

  nodesOf(domain: number): readonly number[] {
    if (this.#nodesOf === undefined) {
      const lists: number[][] = Array.from({ length: this.size }, () => []);
      this.domainOf.forEach((of, node) => lists[of]?.push(node));
      this.#nodesOf = lists;
    }
    return this.#nodesOf[domain] ?? [];
  }
}
