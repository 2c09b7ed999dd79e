import { keyOf, type KubeObject, type ReadStore } from "@evenkeel/kube";

/** What readers ask of a board. Keys are `namespace/name`. */
export interface ReadBoard<View> {
  /** In the order of the store. */
  keys(): readonly string[];
  get(key: string): View | undefined;
  /** Calls `listener` with the key of each object that something happened to, until the returned function is called. */
  subscribe(listener: (key: string) => void): () => void;
}

export interface ObjectBoardOptions<T extends KubeObject, Shown, View> {
  readonly store: Pick<ReadStore<T>, "get" | "values" | "subscribe">;
  /**
   * What readers see of an object. `shown` is what the last reconcile left; absent where this process does not lead.
   */
  readonly view: (object: T, shown: Shown | undefined) => View;
}

/**
 * What readers see of each object. Every replica has a board: it follows the objects as they are stored. On the leader
 * it also has what the last reconcile showed, which is newer and tells more than the status.
 */
export class ObjectBoard<T extends KubeObject, Shown, View> implements ReadBoard<View> {
  readonly #options: ObjectBoardOptions<T, Shown, View>;
  readonly #shown = new Map<string, { readonly uid: string | undefined; readonly shown: Shown }>();
  readonly #listeners = new Set<(key: string) => void>();

  constructor(options: ObjectBoardOptions<T, Shown, View>) {
    this.#options = options;
    options.store.subscribe(({ type, key }) => {
      if (type === "deleted") this.#shown.delete(key);
      this.#tell(key);
    });
  }

  /** Replaces what was shown of an object; call it after each reconcile. */
  show(object: KubeObject, shown: Shown): void {
    const key = keyOf(object);
    this.#shown.set(key, { uid: object.metadata.uid, shown });
    this.#tell(key);
  }

  /** What the last reconcile of this object showed, not that of another object of the same name. */
  shown(key: string): Shown | undefined {
    const last = this.#shown.get(key);
    return last && last.uid === this.#options.store.get(key)?.metadata.uid ? last.shown : undefined;
  }

  /** Forgets what was shown: another process leads now. Readers are told what the stored objects say. */
  clear(): void {
    const keys = [...this.#shown.keys()];
    this.#shown.clear();
    for (const key of keys) this.#tell(key);
  }

  get(key: string): View | undefined {
    const { store, view } = this.#options;
    const object = store.get(key);
    return object && view(object, this.shown(key));
  }

  keys(): readonly string[] {
    return Array.from(this.#options.store.values(), keyOf);
  }

  subscribe(listener: (key: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}
