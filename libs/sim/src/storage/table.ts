import { keyOf, type StoredObject } from "../object.ts";
import type { Change } from "./store.ts";

/** The objects of one type, and what became of them lately. */
export class Table {
  readonly name: string;
  readonly #limit: number;
  readonly #objects = new Map<string, StoredObject>();
  readonly #watchers = new Set<TableWatcher>();
  #past: Change[] = [];
  /** Versions below it are forgotten. */
  #floor: number;
  #sorted: readonly StoredObject[] | undefined;

  constructor(name: string, floor: number, limit: number) {
    this.name = name;
    this.#floor = floor;
    this.#limit = limit;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** All objects in the order of their keys. */
  objects(): readonly StoredObject[] {
    this.#sorted ??= sortByKey([...this.#objects.values()]);
    return this.#sorted;
  }

  /** All objects as they were at a version; undefined if that is forgotten. */
  objectsAt(version: number): readonly StoredObject[] | undefined {
    if (version < this.#floor) return undefined;
    const later = this.#past.filter((change) => change.version > version);
    if (later.length === 0) return this.objects();
    const objects = new Map(this.#objects);
    for (const { object, previous } of later.toReversed()) {
      if (previous === undefined) objects.delete(keyOf(object));
      else objects.set(keyOf(previous), previous);
    }
    return sortByKey([...objects.values()]);
  }

  /** The changes after a version, oldest first; undefined if some of them are forgotten. */
  changesAfter(version: number): readonly Change[] | undefined {
    return version < this.#floor ? undefined : this.#past.filter((change) => change.version > version);
  }

  apply(change: Change): void {
    const key = keyOf(change.object);
    if (change.type === "DELETED") this.#objects.delete(key);
    else this.#objects.set(key, change.object);
    this.#sorted = undefined;
    this.#past.push(change);
    // In bulk, so that a full memory does not cost a move of it with every change.
    if (this.#past.length >= this.#limit * 2) this.#drop(this.#past.length - this.#limit);
    for (const watcher of this.#watchers) watcher.changed(change);
  }

  /** Forgets what was before a version. */
  forget(version: number): void {
    this.#past = [];
    this.#floor = version;
  }

  /** Tells `watcher` of what happens from now on until the returned function is called. */
  watch(watcher: TableWatcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.closed();
  }

  #drop(count: number): void {
    this.#floor = this.#past[count - 1]?.version ?? this.#floor;
    this.#past = this.#past.slice(count);
  }
}

export interface TableWatcher {
  changed(change: Change): void;
  /** The type is no longer served. */
  closed(): void;
}

function sortByKey(objects: StoredObject[]): readonly StoredObject[] {
  const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
  return objects
    .map((object) => ({ object, key: keyOf(object) }))
    .sort((one, other) => compare(one.key, other.key))
    .map(({ object }) => object);
}
