import { keyOf, type StoredObject } from "../object.ts";
import type { Change } from "../storage/store.ts";

const NONE: ReadonlySet<string> = new Set();

/** Where the objects are that have something in common, so that an event costs no look at all of them. */
export class ObjectIndex {
  readonly #termsOf: (object: StoredObject) => readonly string[];
  readonly #keys = new Map<string, Set<string>>();

  /** `termsOf` says what an object can be found by. */
  constructor(termsOf: (object: StoredObject) => readonly string[]) {
    this.#termsOf = termsOf;
  }

  note({ type, object, previous }: Change): void {
    const key = keyOf(object);
    const before = previous === undefined ? [] : this.#termsOf(previous);
    const after = type === "DELETED" ? [] : this.#termsOf(object);
    for (const term of before) if (!after.includes(term)) this.#remove(term, key);
    for (const term of after) {
      const keys = this.#keys.get(term) ?? new Set();
      this.#keys.set(term, keys.add(key));
    }
  }

  /** The keys of the objects that a term finds. */
  get(term: string): ReadonlySet<string> {
    return this.#keys.get(term) ?? NONE;
  }

  #remove(term: string, key: string): void {
    const keys = this.#keys.get(term);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(term);
  }
}
