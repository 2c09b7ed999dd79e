import type { KeySource } from "./controller-source.ts";
import type { KubeObject } from "../objects/object.ts";
import type { ReadStore } from "../cache/store.ts";

/**
 * The keys of objects that came, went, or were asked for something else: by their spec, or by one of `annotations`. A status that the loop
 * itself wrote is none of these, or each turn would lead to another.
 */
export function specChanges<T extends KubeObject>(
  store: Pick<ReadStore<T>, "whenSynced" | "subscribe">,
  annotations: readonly string[],
): KeySource {
  const asksOtherwise = ({ metadata: old }: T, { metadata: now }: T) =>
    old.generation !== now.generation ||
    old.deletionTimestamp !== now.deletionTimestamp ||
    annotations.some((name) => old.annotations?.[name] !== now.annotations?.[name]);
  return {
    whenSynced: (signal) => store.whenSynced(signal),
    subscribe: (enqueue) =>
      store.subscribe((change) => {
        if (change.type === "updated" && !asksOtherwise(change.old, change.object)) return;
        enqueue(change.key, change.relisted ? "low" : "normal");
      }),
  };
}
