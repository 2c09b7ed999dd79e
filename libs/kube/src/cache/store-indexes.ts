/** The values under which an object is found; empty for none. It must depend on the object alone. */
export type IndexFunction<T> = (object: T) => readonly string[];

const nothing: ReadonlyMap<string, never> = new Map<string, never>();

/** Indexes by name, updated object by object. */
export class Indexes<T> {
  readonly #indexes: ReadonlyMap<
    string,
    { readonly valuesOf: IndexFunction<T>; readonly found: Map<string, Map<string, T>> }
  >;

  constructor(functions: Readonly<Record<string, IndexFunction<T>>>) {
    this.#indexes = new Map(
      Object.entries(functions).map(([name, valuesOf]) => [
        name,
        { valuesOf, found: new Map<string, Map<string, T>>() },
      ]),
    );
  }

  get(index: string, value: string): IterableIterator<T> {
    return (this.#indexes.get(index)?.found.get(value) ?? nothing).values();
  }

  valuesOf(index: string): IterableIterator<string> {
    return (this.#indexes.get(index)?.found ?? nothing).keys();
  }

  /** Updates the indexes for one object. `old` is absent for a new object, `object` for a deleted one. */
  move(key: string, old: T | undefined, object: T | undefined): void {
    for (const { valuesOf, found } of this.#indexes.values()) {
      if (old !== undefined) for (const value of valuesOf(old)) remove(found, value, key);
      if (object !== undefined) for (const value of valuesOf(object)) insert(found, value, key, object);
    }
  }
}

function insert<T>(found: Map<string, Map<string, T>>, value: string, key: string, object: T): void {
  let objects = found.get(value);
  if (!objects) found.set(value, (objects = new Map<string, T>()));
  objects.set(key, object);
}

function remove<T>(found: Map<string, Map<string, T>>, value: string, key: string): void {
  const objects = found.get(value);
  objects?.delete(key);
  if (objects?.size === 0) found.delete(value);
}
