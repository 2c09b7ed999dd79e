import type { KubeObject } from "../objects/object.ts";
import { keyOf } from "../objects/object-key.ts";
import type { Change, ReadStore } from "../cache/store.ts";
import type { Priority } from "../queue/workqueue.ts";

/** Where a controller learns which keys to look at. */
export interface KeySource {
  /** Resolves once the source knows the whole present state; rejects with the signal's reason if that aborts first. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Names each key that something happened to, beginning with all that are there. Returns what ends it. */
  subscribe(enqueue: (key: string, priority: Priority) => void): () => void;
}

/**
 * The keys of the objects of a store as they change, or the keys that `keys` makes of each: those of its owner, or of
 * all that refer to it. An update names the keys of the old and of the new object, so that an owner that lost something
 * hears of it too.
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
