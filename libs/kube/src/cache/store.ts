import type { Logger } from "@evenkeel/runtime";
import type { KubeObject } from "../objects/object.ts";
import { keyOf } from "../objects/object-key.ts";
import { StoreDraft } from "./store-draft.ts";
import { type IndexFunction, Indexes } from "./store-indexes.ts";
import { dropManagedFields, type Transform } from "./transform.ts";

/** What happened to one object of a store. `relisted` marks the changes of a whole new list, which can wait. */
export type Change<T> =
  | { readonly type: "added"; readonly key: string; readonly object: T; readonly relisted: boolean }
  | { readonly type: "updated"; readonly key: string; readonly old: T; readonly object: T; readonly relisted: boolean }
  | { readonly type: "deleted"; readonly key: string; readonly old: T; readonly relisted: boolean };

export type Subscriber<T> = (change: Change<T>) => void;

export interface StoreOptions<T extends KubeObject, Index extends string> {
  readonly log: Logger;
  /** Default `dropManagedFields`. A transform that keeps all metadata should call it. */
  readonly transform?: Transform<T>;
  /** Each gives the values under which `by(name, value)` finds an object. */
  readonly indexes?: Readonly<Record<Index, IndexFunction<T>>>;
}

/** Read access to the objects of one type. The objects are shared: never change them. */
export interface ReadStore<T extends KubeObject, Index extends string = never> {
  readonly size: number;
  /** False until the first list is complete. Until then, a missing object may exist. */
  readonly hasSynced: boolean;
  /** Resolves once `hasSynced`; rejects with the signal's reason if that aborts first. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** By `namespace/name`, or `name` for a cluster-scoped type. */
  get(key: string): T | undefined;
  /** All objects, not copied. An iteration that spans an await may see later changes. */
  values(): IterableIterator<T>;
  /** The objects that the index has under `value`, not copied. */
  by(index: Index, value: string): IterableIterator<T>;
  /** Every value that the index has objects under. */
  valuesOf(index: Index): IterableIterator<string>;
  /**
   * Calls `subscriber` for each change, after it is in the store, and first for every object that is there, as added
   * and relisted. An error that it throws is logged and stops neither other subscribers nor the store. Returns a
   * function that ends the subscription.
   */
  subscribe(subscriber: Subscriber<T>): () => void;
}

/** The objects of one type, as a reflector last saw them. Only its reflector writes. */
export class Store<T extends KubeObject, Index extends string = never> implements ReadStore<T, Index> {
  readonly #log: Logger;
  readonly #transform: Transform<T>;
  readonly #functions: Readonly<Record<Index, IndexFunction<T>>>;
  readonly #subscribers = new Set<Subscriber<T>>();
  readonly #synced = Promise.withResolvers<undefined>();
  #objects = new Map<string, T>();
  #indexes: Indexes<T>;
  #hasSynced = false;

  constructor({ log, transform = dropManagedFields, indexes }: StoreOptions<T, Index>) {
    this.#log = log;
    this.#transform = transform;
    this.#functions = indexes ?? ({} as Readonly<Record<Index, IndexFunction<T>>>);
    this.#indexes = new Indexes(this.#functions);
  }

  get size(): number {
    return this.#objects.size;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const ended = Promise.withResolvers<never>();
    const end = () => ended.reject(signal.reason as Error);
    signal.addEventListener("abort", end, { once: true });
    await Promise.race([this.#synced.promise, ended.promise]).finally(() => signal.removeEventListener("abort", end));
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  by(index: Index, value: string): IterableIterator<T> {
    return this.#indexes.get(index, value);
  }

  valuesOf(index: Index): IterableIterator<string> {
    return this.#indexes.valuesOf(index);
  }

  subscribe(subscriber: Subscriber<T>): () => void {
    this.#subscribers.add(subscriber);
    for (const [key, object] of this.#objects) this.#tell(subscriber, { type: "added", key, object, relisted: true });
    return () => this.#subscribers.delete(subscriber);
  }

  /** Adds or updates an object. */
  put(wire: T): void {
    const object = this.#transform(wire);
    const key = keyOf(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#indexes.move(key, old, object);
    this.#tellAll(changesBetween(key, old, object, false));
  }

  /** Removes an object, given its last state. */
  remove(wire: KubeObject): void {
    const key = keyOf(wire);
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#objects.delete(key);
    this.#indexes.move(key, old, undefined);
    this.#tellAll([{ type: "deleted", key, old, relisted: false }]);
  }

  /** A new content, to be filled out of sight and then put in place at once. */
  draft(): StoreDraft<T> {
    return new StoreDraft(this.#transform, new Indexes(this.#functions), (key) => this.#objects.get(key));
  }

  /**
   * Puts a draft in place: readers see all of it or nothing. Subscribers are called one change at a time as the result
   * is iterated, so that the caller can yield to the event loop. No other write may come before the end of the
   * iteration.
   */
  replace(draft: StoreDraft<T>): Generator<void, void, undefined> {
    const before = this.#objects;
    this.#objects = draft.objects;
    this.#indexes = draft.indexes;
    this.#hasSynced = true;
    this.#synced.resolve(undefined);
    // A subscriber that comes during the iteration has just been told of everything.
    return this.#tellReplaced(before, draft.objects, [...this.#subscribers]);
  }

  *#tellReplaced(
    before: ReadonlyMap<string, T>,
    after: ReadonlyMap<string, T>,
    audience: readonly Subscriber<T>[],
  ): Generator<void, void, undefined> {
    for (const [key, old] of before) {
      if (!after.has(key)) this.#tellAll([{ type: "deleted", key, old, relisted: true }], audience);
      yield;
    }
    for (const [key, object] of after) {
      this.#tellAll(changesBetween(key, before.get(key), object, true), audience);
      yield;
    }
  }

  #tellAll(changes: readonly Change<T>[], audience: Iterable<Subscriber<T>> = this.#subscribers): void {
    for (const change of changes)
      for (const subscriber of audience) if (this.#subscribers.has(subscriber)) this.#tell(subscriber, change);
  }

  #tell(subscriber: Subscriber<T>, change: Change<T>): void {
    try {
      subscriber(change);
    } catch (error) {
      this.#log.error({ error, object: change.key, change: change.type }, "a subscriber of the store failed");
    }
  }
}

/** An object with another uid is another object: the one before it was deleted, even if that was not seen. */
function changesBetween<T extends KubeObject>(
  key: string,
  old: T | undefined,
  object: T,
  relisted: boolean,
): readonly Change<T>[] {
  if (old === object) return [];
  if (old === undefined) return [{ type: "added", key, object, relisted }];
  if (old.metadata.uid === object.metadata.uid) return [{ type: "updated", key, old, object, relisted }];
  return [
    { type: "deleted", key, old, relisted },
    { type: "added", key, object, relisted },
  ];
}
