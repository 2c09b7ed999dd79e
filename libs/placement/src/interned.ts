/** Makes a value once a key. */
export class Interned<Value> {
  readonly #values = new Map<string, Value>();

  get(key: string, make: () => Value): Value {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = make();
    this.#values.set(key, value);
    return value;
  }
}
