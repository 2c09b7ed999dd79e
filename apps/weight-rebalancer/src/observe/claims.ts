import { parseRebalance, type Rebalance } from "@evenkeel/api";
import { isPaused, keyOf, type ReadStore } from "@evenkeel/kube";
import type { StoredRebalance } from "../rebalance-resource.ts";
import type { Outside } from "./observer.ts";

/** A target that an older Rebalance writes. */
export interface Claim {
  /** Name of the target. */
  readonly target: string;
  /** `namespace/name` of the Rebalance that writes it. */
  readonly holder: string;
}

/** The names of the targets that an object writes. A dry run and a paused object write none, and a deleted object at most what was before it. */
export function claimedTargets(outside: Pick<Outside, "targets">): (object: StoredRebalance) => readonly string[] {
  return (object) => {
    if (object.metadata.deletionTimestamp !== undefined || isPaused(object)) return [];
    const parsed = parseRebalance(object);
    const writes = parsed.ok && !parsed.value.spec.dryRun && parsed.value.spec.suspend !== true;
    return writes ? outside.targets(parsed.value).map(({ name }) => name) : [];
  };
}

/**
 * Which Rebalance writes a target. If several name the same one, the oldest does, by creation time and then by uid. Two
 * that write one record would overwrite each other's weight for ever.
 */
export class Claims {
  readonly #store: Pick<ReadStore<StoredRebalance, "target">, "by">;
  readonly #outside: Pick<Outside, "targets">;

  constructor(store: Pick<ReadStore<StoredRebalance, "target">, "by">, outside: Pick<Outside, "targets">) {
    this.#store = store;
    this.#outside = outside;
  }

  /** The first target of `rebalance` that an older one writes; null if there is none. */
  taken(rebalance: Rebalance): Claim | null {
    const own = ageOf(rebalance.metadata);
    for (const { name: target } of this.#outside.targets(rebalance)) {
      for (const other of this.#store.by("target", target)) {
        if (ageOf(other.metadata) < own) return { target, holder: keyOf(other) };
      }
    }
    return null;
  }

  /** `namespace/name` of a Rebalance other than that with `uid` that writes the target; undefined if there is none. */
  writer(target: string, uid: string | undefined): string | undefined {
    for (const other of this.#store.by("target", target)) if (other.metadata.uid !== uid) return keyOf(other);
    return undefined;
  }
}

type Age = Pick<Rebalance["metadata"], "creationTimestamp" | "uid">;

/** Sorts by age. Creation times are RFC 3339 in UTC, with seconds, so their text sorts as they do. */
function ageOf({ creationTimestamp, uid = "" }: Age): string {
  return `${creationTimestamp ?? ""} ${uid}`;
}
