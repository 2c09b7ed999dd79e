import type { Label, Labels } from "./declare.ts";

/** What a value outside a label's bound is counted as. */
const OTHER = "other";

/** The most series that one metric keeps for objects; beyond it a new object's samples are not recorded. */
export const OBJECT_SERIES_LIMIT = 20_000;

type Values = Record<string, string>;

/** Decides which label values a metric may carry, and remembers those that must go with their object. */
export class SeriesSet {
  readonly #labels: readonly (readonly [string, Label])[];
  readonly #remove: (values: Values) => void;
  readonly #admitted = new Map<string, Set<string>>();
  readonly #ofObjects = new Map<string, Values>();
  readonly #hasObjects: boolean;
  /** What was admitted for frozen values, which a caller uses again and again. */
  readonly #seen = new WeakMap<Readonly<Values>, { readonly key: string; readonly bounded: Values }>();

  constructor(labels: Labels, remove: (values: Values) => void) {
    this.#labels = Object.entries(labels);
    this.#remove = remove;
    this.#hasObjects = this.#labels.some(([, label]) => label.bound === "object");
  }

  /** The values to record under, or nothing when the metric has no room for another object. */
  admit(values: Readonly<Values>): Values | undefined {
    const seen = this.#seen.get(values);
    if (seen && (!this.#hasObjects || this.#ofObjects.has(seen.key))) return seen.bounded;
    const bounded = this.#bounded(values);
    const key = this.#hasObjects ? JSON.stringify(bounded) : "";
    if (Object.isFrozen(values)) this.#seen.set(values, { key, bounded });
    if (!this.#hasObjects) return bounded;
    if (!this.#ofObjects.has(key)) {
      if (this.#ofObjects.size >= OBJECT_SERIES_LIMIT) return undefined;
      this.#ofObjects.set(key, bounded);
    }
    return bounded;
  }

  /** Removes one series. */
  drop(values: Readonly<Values>): void {
    const bounded = this.#bounded(values);
    this.#ofObjects.delete(JSON.stringify(bounded));
    this.#remove(bounded);
  }

  /**
   * Removes every series of the object with this identity. An empty part, such as the namespace of an object that has
   * none, is the same as a label that the metric does not have.
   */
  forget(identity: Readonly<Values>): void {
    const parts = Object.entries(identity);
    const owns = ([part]: readonly [string, string]) =>
      this.#labels.some(([name, { bound }]) => name === part && bound === "object");
    if (!parts.some(owns) || !parts.every((part) => owns(part) || part[1] === "")) return;
    for (const [key, values] of this.#ofObjects) {
      if (!parts.every(([name, value]) => (values[name] ?? "") === value)) continue;
      this.#ofObjects.delete(key);
      this.#remove(values);
    }
  }

  /** Forgets the series of all objects; the metric itself is reset by its owner. */
  clear(): void {
    this.#ofObjects.clear();
  }

  /** Calls `visit` with each combination of values, provided that every label is closed. */
  eachClosed(visit: (values: Values) => void): void {
    let combinations: Values[] = [{}];
    for (const [name, label] of this.#labels) {
      if (label.bound !== "closed") return;
      combinations = combinations.flatMap((values) => label.values.map((value) => ({ ...values, [name]: value })));
    }
    combinations.forEach(visit);
  }

  #bounded(values: Readonly<Values>): Values {
    const bounded: Values = {};
    for (const [name, label] of this.#labels) bounded[name] = this.#bind(name, label, values[name] ?? "");
    return bounded;
  }

  #bind(name: string, label: Label, value: string): string {
    if (label.bound === "object") return value;
    if (label.bound === "closed") return label.values.includes(value) ? value : OTHER;
    let admitted = this.#admitted.get(name);
    if (!admitted) this.#admitted.set(name, (admitted = new Set()));
    if (admitted.has(value)) return value;
    if (admitted.size >= label.limit) return OTHER;
    admitted.add(value);
    return value;
  }
}
