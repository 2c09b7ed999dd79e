import { parseRebalance, type Rebalance } from "@evenkeel/api";
import { isPaused, keyOf, type ReadStore } from "@evenkeel/kube";
import { CodedError } from "@evenkeel/runtime";
import type { StoredRebalance } from "../rebalance-resource.ts";
import type { WeightTarget } from "../targets/weight-target.ts";
import type { ObservedTarget, Outside } from "./observer.ts";

/** A target that an older Rebalance writes. */
export interface Claim {
  /** Name of the target. */
  readonly target: string;
  /** `namespace/name` of the Rebalance that writes it. */
  readonly holder: string;
}

type TargetId = Pick<WeightTarget, "name" | "endpoint">;

/** Two Rebalances with the same text write the same target. */
function claimOf({ name, endpoint }: TargetId): string {
  return endpoint === undefined ? name : `${name} at ${endpoint}`;
}

/**
 * The targets that an object writes, as `Claims` looks them up. A dry run and a paused object write none, and a deleted
 * object at most what was before it.
 */
export function claimedTargets(outside: Pick<Outside, "targets">): (object: StoredRebalance) => readonly string[] {
  return (object) => {
    if (object.metadata.deletionTimestamp !== undefined || isPaused(object)) return [];
    const parsed = parseRebalance(object);
    const writes = parsed.ok && !parsed.value.spec.dryRun && parsed.value.spec.suspend !== true;
    return writes ? outside.targets(parsed.value).map(claimOf) : [];
  };
}

/**
 * Which Rebalance writes a target. If several name the same one, the oldest does, by creation time and then by uid. Two
 * that write one record would overwrite each other's weight for ever. A Rebalance of another namespace counts only if
 * it can read the target, because anyone can name a record that they have no access to.
 */
export class Claims {
  readonly #store: Pick<ReadStore<StoredRebalance, "target">, "by">;
  readonly #outside: Pick<Outside, "targets">;
  /** By uid: the targets that it can read. A Rebalance that was not reconciled yet is not in it. */
  readonly #readable = new Map<string, ReadonlySet<string>>();

  constructor(store: Pick<ReadStore<StoredRebalance, "target">, "by">, outside: Pick<Outside, "targets">) {
    this.#store = store;
    this.#outside = outside;
  }

  /** The first target of `rebalance` that an older one writes; null if there is none. */
  taken(rebalance: Rebalance): Claim | null {
    const own = ageOf(rebalance.metadata);
    for (const target of this.#outside.targets(rebalance)) {
      for (const other of this.#holders(target, rebalance.metadata))
        if (ageOf(other.metadata) < own) return { target: target.name, holder: keyOf(other) };
    }
    return null;
  }

  /** `namespace/name` of a Rebalance other than `self` that writes the target; undefined if there is none. */
  writer(target: TargetId, self: Owner): string | undefined {
    for (const other of this.#holders(target, self)) if (other.metadata.uid !== self.uid) return keyOf(other);
    return undefined;
  }

  /**
   * Remembers which targets a Rebalance could read. A failure that may pass changes nothing for a target that it could
   * read before.
   */
  learn(uid: string, targets: readonly Pick<ObservedTarget, "target" | "error">[]): void {
    const before = this.#readable.get(uid);
    const mayPass = (error: unknown) => error instanceof CodedError && error.recovery === "retryable";
    const isReadable = ({ target, error }: Pick<ObservedTarget, "target" | "error">) =>
      error === undefined || (mayPass(error) && before?.has(claimOf(target)) === true);
    this.#readable.set(uid, new Set(targets.filter(isReadable).map(({ target }) => claimOf(target))));
  }

  forget(uid: string): void {
    this.#readable.delete(uid);
  }

  *#holders(target: TargetId, { namespace }: Owner): Iterable<StoredRebalance> {
    const claim = claimOf(target);
    for (const other of this.#store.by("target", claim)) {
      const { namespace: place, uid = "" } = other.metadata;
      if (place === namespace || this.#readable.get(uid)?.has(claim) !== false) yield other;
    }
  }
}

type Owner = Pick<Rebalance["metadata"], "namespace" | "uid">;

type Age = Pick<Rebalance["metadata"], "creationTimestamp" | "uid">;

/** Sorts by age. Creation times are RFC 3339 in UTC, with seconds, so their text sorts as they do. */
function ageOf({ creationTimestamp, uid = "" }: Age): string {
  return `${creationTimestamp ?? ""} ${uid}`;
}
