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
  /** By base score: the first node of a linked list, and how many it has. */
  readonly heads = new Int32Array(MOST_BASE + 1).fill(-1);
  readonly sizes = new Uint16Array(MOST_BASE + 1);
  size = 0;
  /** No node of the group has a higher base score. */
  top = 0;

  /** Worked out anew for each question. */
  isFeasible = false;
  /** Misses a label that soft spread constraints need. */
  isIgnored = false;
  crowding = 0;
  weight = 0;
  /** What the group adds to the base score of each of its nodes. */
  bonus = 0;

  constructor(kind: NodeKind, codes: Int32Array) {
    this.kind = kind;
    this.codes = codes;
  }
}
