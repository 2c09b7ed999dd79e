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
  readonly #counts: Int32Array | Uint16Array;
  /** How many domains have a pod. */
  #occupied = 0;
  #eligibleDomains: ReadonlySet<number> | undefined;
  #total = 0;

  constructor({ topology, countsTerminating, eligible }: CounterOptions) {
    this.topology = topology;
    this.countsTerminating = countsTerminating;
    this.#eligible = eligible;
    // A domain that is about as small as a node has few pods.
    this.#counts = topology.isCoarse ? new Int32Array(topology.size) : new Uint16Array(topology.size);
  }

  /** All pods that count, in whatever domain. */
  get total(): number {
    return this.#total;
  }

  at(domain: number): number {
    return this.#counts[domain] ?? 0;
  }

  /** The count of the node's domain; 0 where it is in none. */
  countAround(node: number): number {
    return this.#counts[this.topology.domainOf[node] ?? NO_DOMAIN] ?? 0;
  }

  change(node: number, by: number): void {
    const domain = this.topology.domainOf[node] ?? NO_DOMAIN;
    if (domain === NO_DOMAIN || by === 0 || this.#eligible?.[node] === 0) return;
    const before = this.at(domain);
    if (before === 0) this.#occupied += 1;
    if (before + by === 0) this.#occupied -= 1;
    this.#counts[domain] = before + by;
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
    const { domains } = this;
    if (domains.size === 0) return Infinity;
    if (this.#occupied < domains.size) return 0;
    let least = Infinity;
    for (const domain of domains) least = Math.min(least, this.at(domain));
    return least;
  }
}
