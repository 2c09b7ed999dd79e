import type { WeightSnapshot } from "../decide/snapshot.ts";
import type { ShownOutcome } from "./weight-view.ts";

/** The state after a reconcile, from which a preview starts. */
export function snapshotAfter({ snapshot, memory, targets }: ShownOutcome): WeightSnapshot {
  return {
    ...snapshot,
    targets: snapshot.targets.map((reading, index) => ({
      ...reading,
      weight: targets[index]?.actual ?? reading.weight,
    })),
    memory,
  };
}
