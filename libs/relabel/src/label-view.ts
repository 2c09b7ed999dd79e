import { type Labels, sortedLabels } from "./labels.ts";

/** Where a label was first found. Prometheus visits labels in this order. */
export type Origin = "target" | "group" | "seed" | "rule";

const none: Labels = new Map();

/**
 * The labels of one target while rules change them. Nothing is copied: a label is looked up in the changes, the target, its
 * group and the job's seeds, in this order. One view serves many targets, one after the other.
 */
export class LabelView {
  readonly #seeds: Labels;
  #group = none;
  #target = none;
  /** Empty values are labels that rules removed. */
  readonly #changes = new Map<string, string>();
  /** Names that rules removed and then set again. They are visited after all others, as a rule's own. */
  readonly #restored = new Set<string>();

  constructor(seeds: Labels) {
    this.#seeds = seeds;
  }

  show(group: Labels, target: Labels): void {
    this.#group = group;
    this.#target = target;
    if (this.#changes.size === 0) return;
    this.#changes.clear();
    this.#restored.clear();
  }

  /** Empty if there is no such label. */
  get(name: string): string {
    return this.#changes.get(name) ?? this.#found(name);
  }

  /** An empty value removes the label. */
  set(name: string, value: string): void {
    if (value === "") {
      this.#restored.delete(name);
    } else if (this.#changes.get(name) === "") {
      this.#restored.add(name);
      this.#changes.delete(name);
    }
    this.#changes.set(name, value);
  }

  /** Every label there is, once. `visit` must not change labels. */
  each(visit: (name: string, value: string, origin: Origin) => void): void {
    for (const [name, value] of this.#target) {
      if (value !== "") this.#visit(name, value, "target", visit);
    }
    for (const [name, value] of this.#group) {
      if (value !== "" && !this.#target.has(name)) this.#visit(name, value, "group", visit);
    }
    for (const [name, value] of this.#seeds) {
      if (this.#discovered(name) === "") this.#visit(name, value, "seed", visit);
    }
    for (const [name, value] of this.#changes) {
      if (value !== "" && (this.#restored.has(name) || this.#found(name) === "")) visit(name, value, "rule");
    }
  }

  /** A copy of every label there is. */
  labels(): Labels {
    const found: [string, string][] = [];
    this.each((name, value) => found.push([name, value]));
    return sortedLabels(found);
  }

  #visit(
    name: string,
    value: string,
    origin: Origin,
    visit: (name: string, value: string, origin: Origin) => void,
  ): void {
    const changed = this.#changes.get(name);
    if (changed === undefined) visit(name, value, origin);
    else if (changed !== "" && !this.#restored.has(name)) visit(name, changed, origin);
  }

  /** An empty label of the target hides its group's. */
  #discovered(name: string): string {
    return this.#target.get(name) ?? this.#group.get(name) ?? "";
  }

  #found(name: string): string {
    const discovered = this.#discovered(name);
    return discovered === "" ? (this.#seeds.get(name) ?? "") : discovered;
  }
}
