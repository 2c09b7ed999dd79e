import type { KubeObject } from "../objects/object.ts";
import { keyOf } from "../objects/object-key.ts";
import type { Indexes } from "./store-indexes.ts";
import type { Transform } from "./transform.ts";

/** The next content of a store while its pages arrive. Each object is transformed and indexed as it arrives. */
export class StoreDraft<T extends KubeObject> {
  readonly objects = new Map<string, T>();
  readonly indexes: Indexes<T>;
  readonly #transform: Transform<T>;
  readonly #present: (key: string) => T | undefined;

  constructor(transform: Transform<T>, indexes: Indexes<T>, present: (key: string) => T | undefined) {
    this.#transform = transform;
    this.indexes = indexes;
    this.#present = present;
  }

  put(wire: T): void {
    const key = keyOf(wire);
    const present = this.#present(key);
    // Keeping the old instance frees the new one at once, and shows later that nothing changed.
    this.#set(key, present !== undefined && isSameState(present, wire) ? present : this.#transform(wire));
  }

  remove(wire: KubeObject): void {
    this.#set(keyOf(wire), undefined);
  }

  #set(key: string, object: T | undefined): void {
    this.indexes.move(key, this.objects.get(key), object);
    if (object === undefined) this.objects.delete(key);
    else this.objects.set(key, object);
  }
}

function isSameState({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return a.resourceVersion !== undefined && a.resourceVersion === b.resourceVersion && a.uid === b.uid;
}
