import { LabelsTooLong, LONGEST_LABELS } from "./label-length.ts";
import { type Labels, sortedLabels } from "./labels.ts";

/** Where a label was first found. Prometheus visits labels in this order. */
export type Origin = "target" | "group" | "seed" | "rule";

type Visit = (name: string, value: string, origin: Origin) => void;

const none: Labels = new Map();
const metaPrefix = "__meta_";

/** What the targets of one group have in common, worked out for the first of them. */
interface CommonOfGroup {
  readonly group: Labels;
  /** Labels that are not meta labels. */
  readonly named: readonly (readonly [name: string, value: string])[];
  /** Seeds, each with the value that the group has instead. */
  readonly seeds: readonly (readonly [name: string, seed: string, instead: string])[];
}

/**
 * The labels of one target while rules change them. Nothing is copied: a label is looked up in the changes, the target,
 * its group and the job's seeds, in this order. One view serves many targets, one after the other.
 */
export class LabelView {
  readonly #seeds: Labels;
  #group = none;
  #target = none;
  #common: CommonOfGroup | undefined;
  /** Empty values are labels that rules removed. */
  readonly #changes = new Map<string, string>();
  /** Names that rules removed and then set again. They are visited after all others, as a rule's own. */
  readonly #restored = new Set<string>();
  /** Characters of the changes. */
  #length = 0;

  constructor(seeds: Labels) {
    this.#seeds = seeds;
  }

  show(group: Labels, target: Labels): void {
    this.#group = group;
    this.#target = target;
    if (this.#changes.size === 0) return;
    this.#changes.clear();
    this.#restored.clear();
    this.#length = 0;
  }

  get group(): Labels {
    return this.#group;
  }

  /** Whether neither the target nor a rule has any of these labels, so that they are the same for the whole group. */
  isOfGroup(names: readonly string[]): boolean {
    for (const name of names) {
      if (this.#target.has(name) || this.#changes.has(name)) return false;
    }
    return true;
  }

  /** Empty if there is no such label. */
  get(name: string): string {
    return this.#changes.get(name) ?? this.#found(name);
  }

  /** An empty value removes the label. Throws `LabelsTooLong`. */
  set(name: string, value: string): void {
    const before = this.#changes.get(name);
    this.#length += value.length + (before === undefined ? name.length : -before.length);
    if (this.#length > LONGEST_LABELS) throw new LabelsTooLong();
    if (value === "") {
      this.#restored.delete(name);
    } else if (before === "") {
      this.#restored.add(name);
      this.#changes.delete(name);
    }
    this.#changes.set(name, value);
  }

  /** Every label there is, once, in Prometheus's order of origins. `visit` must not change labels. */
  each(visit: Visit): void {
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

  /** Every label that is not a meta label, once. It takes no time for the meta labels of the group. */
  eachFinal(visit: Visit): void {
    for (const [name, value] of this.#target) {
      if (value !== "" && !name.startsWith(metaPrefix)) this.#visit(name, value, "target", visit);
    }
    const { named, seeds } = this.#commonOfGroup();
    for (const [name, value] of named) {
      if (!this.#target.has(name)) this.#visit(name, value, "group", visit);
    }
    for (const [name, seed, instead] of seeds) {
      if ((this.#target.get(name) ?? instead) === "") this.#visit(name, seed, "seed", visit);
    }
    for (const [name, value] of this.#changes) {
      if (value === "" || name.startsWith(metaPrefix)) continue;
      if (this.#restored.has(name) || this.#found(name) === "") visit(name, value, "rule");
    }
  }

  /** A copy of every label there is. */
  labels(): Labels {
    const found: [string, string][] = [];
    this.each((name, value) => found.push([name, value]));
    return sortedLabels(found);
  }

  #commonOfGroup(): CommonOfGroup {
    const group = this.#group;
    if (this.#common?.group !== group) {
      const named = [...group].filter(([name, value]) => value !== "" && !name.startsWith(metaPrefix));
      const seeds = [...this.#seeds].map(([name, seed]) => [name, seed, group.get(name) ?? ""] as const);
      this.#common = { group, named, seeds };
    }
    return this.#common;
  }

  #visit(name: string, value: string, origin: Origin, visit: Visit): void {
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
