import { type LabelSelector, matchesSelector } from "@evenkeel/placement";
import type { StoredObject } from "../object.ts";
import type { Change, Store } from "../storage/store.ts";
import { ObjectIndex } from "./object-index.ts";
import { tables } from "./object-state.ts";

/** Finds the pods that a selector chooses by the rarest of the labels that it asks for. */
export class PodsByLabel {
  readonly #store: Store;
  readonly #index = new ObjectIndex(({ metadata: { namespace = "", labels = {} } }) => [
    namespace,
    ...Object.entries(labels).map(([key, value]) => term(namespace, key, value)),
  ]);

  constructor(store: Store) {
    this.#store = store;
  }

  note(change: Change): void {
    this.#index.note(change);
  }

  matching(namespace: string, selector: LabelSelector): StoredObject[] {
    const terms = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => term(namespace, key, value));
    const candidates = [namespace, ...terms].map((one) => this.#index.get(one));
    const fewest = candidates.reduce((one, other) => (other.size < one.size ? other : one));
    const table = this.#store.table(tables.pods);
    const found = [...fewest].map((key) => table.get(key)).filter((pod) => pod !== undefined);
    return found.filter(({ metadata }) => matchesSelector(selector, metadata.labels ?? {}));
  }
}

function term(namespace: string, key: string, value: string): string {
  return `${namespace} ${key}=${value}`;
}
