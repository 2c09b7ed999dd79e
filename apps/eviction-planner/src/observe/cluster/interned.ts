/** Keeps one copy of equal values, for as long as somebody uses it. */
export class Interned<T extends object> {
  readonly #copies = new Map<string, WeakRef<T>>();
  readonly #unused = new FinalizationRegistry<string>((text) => {
    if (this.#copies.get(text)?.deref() === undefined) this.#copies.delete(text);
  });

  /** The copy of a value that consists of JSON. */
  one(value: T): T {
    const text = JSON.stringify(value);
    const known = this.#copies.get(text)?.deref();
    if (known !== undefined) return known;
    this.#copies.set(text, new WeakRef(value));
    this.#unused.register(value, text);
    return value;
  }
}
