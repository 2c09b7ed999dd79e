import type { Group } from "./group.ts";

const NIL = -1;

/** A node's group, its base score, and the nodes before and after it with the same, next to each other in memory. */
const STRIDE = 4;
const GROUP = 0;
const BASE = 1;
const NEXT = 2;
const PREVIOUS = 3;

/**
 * Which group and base score each node has, with a list of the nodes of each. Every change takes the same short time.
 */
export class NodeLists {
  readonly #groups: readonly Group[];
  readonly #records: Int16Array | Int32Array;

  constructor(groups: readonly Group[], nodes: number) {
    this.#groups = groups;
    this.#records = (nodes < 2 ** 15 ? new Int16Array(nodes * STRIDE) : new Int32Array(nodes * STRIDE)).fill(NIL);
  }

  /** The group of a node, or -1. */
  groupOf(node: number): number {
    return this.#records[node * STRIDE + GROUP] ?? NIL;
  }

  /** The next node of the same group and base score, or -1. */
  next(node: number): number {
    return this.#records[node * STRIDE + NEXT] ?? NIL;
  }

  /** Puts a node into a group, or into none if that is -1. */
  move(node: number, group: number, base: number): void {
    const records = this.#records;
    const row = node * STRIDE;
    if (records[row + GROUP] === group && (group === NIL || records[row + BASE] === base)) return;
    if (records[row + GROUP] !== NIL) this.#unlink(row);
    records[row + GROUP] = group;
    if (group !== NIL) this.#link(node, group, base);
  }

  #link(node: number, index: number, base: number): void {
    const group = this.#groups[index];
    if (group === undefined) throw new RangeError(`there is no group ${index}`);
    const records = this.#records;
    const row = node * STRIDE;
    const head = group.first(base);
    records[row + BASE] = base;
    records[row + NEXT] = head;
    records[row + PREVIOUS] = NIL;
    if (head !== NIL) records[head * STRIDE + PREVIOUS] = node;
    group.setFirst(base, node);
    group.changeCount(base, 1);
  }

  #unlink(row: number): void {
    const records = this.#records;
    const group = this.#groups[records[row + GROUP] ?? NIL];
    if (group === undefined) return;
    const base = records[row + BASE] ?? 0;
    const next = records[row + NEXT] ?? NIL;
    const previous = records[row + PREVIOUS] ?? NIL;
    if (previous === NIL) group.setFirst(base, next);
    else records[previous * STRIDE + NEXT] = next;
    if (next !== NIL) records[next * STRIDE + PREVIOUS] = previous;
    group.changeCount(base, -1);
  }
}
