import { NO_DOMAIN, type Topology } from "./topology.ts";

/** What a counter counts in each domain of its topology. */
export interface CounterOptions {
  readonly topology: Topology;
  /** Whether pods that are being deleted still count: they do for affinity, not for spread. */
  readonly countsTerminating: boolean;
  /** Only pods on these nodes count; null for all nodes. */
  readonly eligible: Uint8Array | null;
}

/** The number of pods in each domain of a topology, of those shapes that the counter counts. */
export class Counter {
  readonly topology: Topology;
  readonly countsTerminating: boolean;
  readonly #eligible: Uint8Array | null;
  /** Counts that are not 0, by domain. */
  readonly #counts = new Map<number, number>();
  #eligibleDomains: ReadonlySet<number> | undefined;
  #total = 0;

  constructor({ topology, countsTerminating, eligible }: CounterOptions) {
    this.topology = topology;
    this.countsTerminating = countsTerminating;
    this.#eligible = eligible;
  }

  /** All pods that count, in whatever domain. */
  get total(): number {
    return this.#total;
  }

  at(domain: number): number {
    return this.#counts.get(domain) ?? 0;
  }

  change(node: number, by: number): void {
    const domain = this.topology.domainOf[node] ?? NO_DOMAIN;
    if (domain === NO_DOMAIN || by === 0 || this.#eligible?.[node] === 0) return;
    const after = this.at(domain) + by;
    if (after === 0) this.#counts.delete(domain);
    else this.#counts.set(domain, after);
    this.#total += by;
  }

  /** Domains with at least one node whose pods count. */
  get domains(): ReadonlySet<number> {
    if (this.#eligibleDomains !== undefined) return this.#eligibleDomains;
    const domains = new Set<number>();
    this.topology.domainOf.forEach((domain, node) => {
      if (domain !== NO_DOMAIN && this.#eligible?.[node] !== 0) domains.add(domain);
    });
    return (this.#eligibleDomains = domains);
  }

  /** The count of the domain that has the fewest pods; Infinity where there is no domain. */
  get least(): number {
    const { size } = this.domains;
    if (size === 0) return Infinity;
    return this.#counts.size < size ? 0 : Math.min(...this.#counts.values());
  }
}
