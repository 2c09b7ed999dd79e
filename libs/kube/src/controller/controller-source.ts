import type { KubeObject } from "../objects/object.ts";
import { keyOf } from "../objects/object-key.ts";
import type { Change, ReadStore } from "../cache/store.ts";
import type { Priority } from "../queue/workqueue.ts";

/** Tells a controller which keys to reconcile. */
export interface KeySource {
  /** Resolves when the source knows the whole present state; rejects with the signal's reason if that aborts first. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Enqueues every present key, then each key that changes. Returns a function that ends the subscription. */
  subscribe(enqueue: (key: string, priority: Priority) => void): () => void;
}

/**
 * The keys of the objects of a store as they change, or the keys that `keys` derives from each, such as that of its
 * owner. An update enqueues the keys of the old and of the new object, so that a former owner is reconciled too.
 */
export function changesOf<T extends KubeObject>(
  store: Pick<ReadStore<T>, "whenSynced" | "subscribe">,
  keys: (object: T) => readonly string[] = (object) => [keyOf(object)],
): KeySource {
  return {
    whenSynced: (signal) => store.whenSynced(signal),
    subscribe: (enqueue) =>
      store.subscribe((change) => {
        const priority = change.relisted ? "low" : "normal";
        for (const key of new Set(objectsOf(change).flatMap(keys))) enqueue(key, priority);
      }),
  };
}

function objectsOf<T>(change: Change<T>): T[] {
  if (change.type === "updated") return [change.old, change.object];
  return change.type === "added" ? [change.object] : [change.old];
}
