import { keyOf, type StoredObject } from "../object.ts";
import { Table } from "./table.ts";

export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  /** The object after the change; of one that is deleted, its last state with the version of its deletion. */
  readonly object: StoredObject;
  readonly previous: StoredObject | undefined;
}

/** Told of each change before the call that made it returns. */
export type ChangeListener = (table: Table, change: Change) => void;

export interface StoreOptions {
  /** Changes a table remembers for watches and lists of the past. */
  readonly history: number;
}

/**
 * All objects, in one table a type. One counter gives every change its version, so that versions are ordered across
 * types as etcd's are.
 */
export class Store {
  readonly #options: StoreOptions;
  readonly #tables = new Map<string, Table>();
  readonly #listeners = new Set<ChangeListener>();
  readonly #uids = new Map<string, { readonly table: Table; readonly key: string }>();
  #version = 1;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** The version of the last change. */
  get version(): number {
    return this.#version;
  }

  tables(): readonly Table[] {
    return [...this.#tables.values()];
  }

  /** The table of a type, made when first asked for: what was before it is not remembered. */
  table(name: string): Table {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new Table(name, this.#version, this.#options.history);
      this.#tables.set(name, table);
    }
    return table;
  }

  /** Forgets a type with its objects. Watches of it end. */
  drop(name: string): void {
    const table = this.#tables.get(name);
    if (table === undefined) return;
    for (const object of table.objects()) this.remove(table, object);
    this.#tables.delete(name);
    table.close();
  }

  /** Stores an object under a new version, which its metadata carries from then on. */
  put(table: Table, object: StoredObject): StoredObject {
    const version = ++this.#version;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const previous = table.get(keyOf(stored));
    this.#uids.set(stored.metadata.uid, { table, key: keyOf(stored) });
    this.#tell(table, { type: previous === undefined ? "ADDED" : "MODIFIED", version, object: stored, previous });
    return stored;
  }

  /** Removes what is stored under the object's name; its last state is `object`. */
  remove(table: Table, object: StoredObject): StoredObject {
    const version = ++this.#version;
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const previous = table.get(keyOf(object));
    this.#uids.delete(object.metadata.uid);
    this.#tell(table, { type: "DELETED", version, object: last, previous });
    return last;
  }

  /** The object with a uid, and where it is. */
  find(uid: string): { readonly table: Table; readonly object: StoredObject } | undefined {
    const place = this.#uids.get(uid);
    const object = place?.table.get(place.key);
    return place === undefined || object === undefined ? undefined : { table: place.table, object };
  }

  /**
   * Forgets the past, as if a write had come and etcd had compacted up to it: older versions and continue tokens have
   * expired.
   */
  compact(): void {
    const version = ++this.#version;
    for (const table of this.#tables.values()) table.forget(version);
  }

  /** Calls `listener` on every change until the returned function is called. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(table: Table, change: Change): void {
    table.apply(change);
    for (const listener of this.#listeners) listener(table, change);
  }
}
