import type { KeySource } from "./controller-source.ts";
import type { KubeObject } from "../objects/object.ts";
import type { ReadStore } from "../cache/store.ts";

/**
 * The keys of objects that were added, deleted, or changed in their spec or in one of `annotations`. A change of the
 * status does not count, because the controller writes it itself, and each reconcile would lead to another.
 */
export function specChanges<T extends KubeObject>(
  store: Pick<ReadStore<T>, "whenSynced" | "subscribe">,
  annotations: readonly string[],
): KeySource {
  const isChanged = ({ metadata: old }: T, { metadata: now }: T) =>
    old.generation !== now.generation ||
    old.deletionTimestamp !== now.deletionTimestamp ||
    annotations.some((name) => old.annotations?.[name] !== now.annotations?.[name]);
  return {
    whenSynced: (signal) => store.whenSynced(signal),
    subscribe: (enqueue) =>
      store.subscribe((change) => {
        if (change.type === "updated" && !isChanged(change.old, change.object)) return;
        enqueue(change.key, change.relisted ? "low" : "normal");
      }),
  };
}
