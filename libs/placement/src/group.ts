import type { NodeKind } from "./node-kinds.ts";

/** The most that the scores of a node's own resources and images can add up to. */
const MOST_BASE = 300;

/**
 * Nodes that are alike for a shape in everything but their base score, which is that of resources and images. Filters
 * and scores that compare nodes with each other are worked out once a group.
 */
export class Group {
  readonly kind: NodeKind;
  /** One for each feature of the shape. */
  readonly codes: Int32Array;
  size = 0;

  /** Passes the filters that look at other pods. This and the next are worked out anew for each question. */
  isFeasible = false;
  /** Misses a label that soft spread constraints need. */
  isIgnored = false;
  crowding = 0;
  weight = 0;
  /** What the group adds to the base score of each of its nodes. */
  bonus = 0;

  /** The base score that a walk from the best node to the worst has come to, or more; -1 at its end. */
  base = -1;
  /** No node of the group has a higher base score. */
  #top = 0;
  /** By base score: one more than the first node of a linked list, so that 0 is none, and how many nodes it has. */
  readonly #buckets: Int16Array | Int32Array;

  constructor(kind: NodeKind, codes: Int32Array, isSmallCluster: boolean) {
    this.kind = kind;
    this.codes = codes;
    const length = 2 * (MOST_BASE + 1);
    this.#buckets = isSmallCluster ? new Int16Array(length) : new Int32Array(length);
  }

  /** The first node with a base score, or -1. */
  first(base: number): number {
    return (this.#buckets[2 * base] ?? 0) - 1;
  }

  /** How many nodes have a base score. */
  count(base: number): number {
    return this.#buckets[2 * base + 1] ?? 0;
  }

  setFirst(base: number, node: number): void {
    this.#buckets[2 * base] = node + 1;
  }

  changeCount(base: number, by: 1 | -1): void {
    this.#buckets[2 * base + 1] = this.count(base) + by;
    this.size += by;
    if (base > this.#top) this.#top = base;
  }

  /** Begins a walk at a base score that no node exceeds. */
  restart(): void {
    this.base = this.#top;
  }

  /** Goes down to a base score that a node has, if none has the present one. Tells whether it had to. */
  settle(): boolean {
    const before = this.base;
    while (this.base >= 0 && this.count(this.base) === 0) this.base -= 1;
    if (before === this.#top) this.#top = Math.max(this.base, 0);
    return this.base !== before;
  }
}
