import { compareNames } from "./labels.ts";

interface Node {
  readonly next: Map<string, Node>;
  order?: readonly number[];
}

/**
 * The order of label names, worked out once for each list of names: the targets of a job have few different ones. Lists
 * are a tree by name, which is thrown away when it has `limit` nodes.
 */
export class NameOrder {
  readonly #limit: number;
  #root: Node = { next: new Map() };
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Indexes into `names`, which are all different, from the first name to the last. */
  of(names: readonly string[]): readonly number[] {
    if (this.#size > this.#limit) {
      this.#root = { next: new Map() };
      this.#size = 0;
    }
    let node = this.#root;
    for (const name of names) {
      let next = node.next.get(name);
      if (next === undefined) {
        next = { next: new Map() };
        node.next.set(name, next);
        this.#size++;
      }
      node = next;
    }
    node.order ??= [...names.keys()].sort((one, other) => compareNames(names[one] ?? "", names[other] ?? ""));
    return node.order;
  }
}
