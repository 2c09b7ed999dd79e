import type { NodeKind } from "./node-kinds.ts";

/** The most that the scores of a node's own resources and images can add up to. */
export const MOST_BASE = 300;

/**
 * Nodes that are alike for a shape in everything but their base score, which is that of resources and images. Filters and
 * scores that compare nodes with each other are worked out once a group.
 */
export class Group {
  readonly kind: NodeKind;
  /** One for each feature of the shape. */
  readonly codes: Int32Array;
  /** By base score: one more than the first node of a linked list, so that 0 is none. */
  readonly heads: Int16Array | Int32Array;
  /** By base score: how many nodes have it. */
  readonly sizes: Int16Array | Int32Array;
  size = 0;
  /** No node of the group has a higher base score. */
  top = 0;

  /** Passes the filters that look at other pods. This and the rest is worked out anew for each question. */
  isFeasible = false;
  /** Misses a label that soft spread constraints need. */
  isIgnored = false;
  crowding = 0;
  weight = 0;
  /** What the group adds to the base score of each of its nodes. */
  bonus = 0;
  /** The base score that a walk from the best node to the worst has come to; -1 at its end. */
  base = -1;

  constructor(kind: NodeKind, codes: Int32Array, isSmallCluster: boolean) {
    this.kind = kind;
    this.codes = codes;
    this.heads = isSmallCluster ? new Int16Array(MOST_BASE + 1) : new Int32Array(MOST_BASE + 1);
    this.sizes = isSmallCluster ? new Int16Array(MOST_BASE + 1) : new Int32Array(MOST_BASE + 1);
  }

  /** Goes to the best base score that a node has. */
  restart(): void {
    this.base = this.top;
    this.#skipEmpty();
    this.top = Math.max(this.base, 0);
  }

  /** Goes to the next lower base score that a node has. */
  advance(): void {
    this.base -= 1;
    this.#skipEmpty();
  }

  #skipEmpty(): void {
    while (this.base >= 0 && this.sizes[this.base] === 0) this.base -= 1;
  }
}
