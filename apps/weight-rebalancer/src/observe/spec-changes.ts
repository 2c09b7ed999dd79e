import type { KeySource, ReadStore } from "@evenkeel/kube";
import { isPaused, type StoredRebalance } from "../rebalance-resource.ts";

/**
 * The keys of Rebalances that came, went, or were asked for something else. A status that the loop itself wrote is none of these,
 * or each turn would lead to another.
 */
export function specChanges(store: Pick<ReadStore<StoredRebalance>, "whenSynced" | "subscribe">): KeySource {
  return {
    whenSynced: (signal) => store.whenSynced(signal),
    subscribe: (enqueue) =>
      store.subscribe((change) => {
        if (change.type === "updated" && !asksOtherwise(change.old, change.object)) return;
        enqueue(change.key, change.relisted ? "low" : "normal");
      }),
  };
}

function asksOtherwise({ metadata: old }: StoredRebalance, { metadata: now }: StoredRebalance): boolean {
  return (
    old.generation !== now.generation ||
    old.deletionTimestamp !== now.deletionTimestamp ||
    isPaused(old.annotations) !== isPaused(now.annotations)
  );
}
