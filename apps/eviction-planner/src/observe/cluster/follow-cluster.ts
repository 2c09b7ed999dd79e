import type { KubeObject, ReadStore } from "@evenkeel/kube";
import type { OperatorFrame } from "@evenkeel/operator";
import { runtimeErrors, withDeadline } from "@evenkeel/runtime";
import { NotListed } from "../../errors.ts";
import type { ObservedPod } from "./observed-pod.ts";
import { type ClusterObjects, type ObservedType, observedTypes } from "./cluster-objects.ts";

/** The cluster as reflectors follow it. */
export interface FollowedCluster {
  /**
   * Resolves once every kind was listed, and rejects if that takes long, or if a kind could not be followed for
   * minutes. A plan that does not know all disruption budgets must not be made, and none by a cluster of the past.
   */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** The objects as they are now. */
  objects(): ClusterObjects;
  /** A pod as it is now, by `namespace/name`. */
  pod(key: string): ObservedPod | undefined;
}

/** Milliseconds to wait for the first list of every kind. */
const LISTING = 15_000;
/** Milliseconds for which lists and watches of a kind may fail before its objects are too old to plan by. */
const FAILING = 180_000;

/**
 * Follows every object that a plan depends on, in all namespaces: a node's load is that of all its pods, whoever may
 * evict them.
 */
export function followCluster(frame: Pick<OperatorFrame, "reflect" | "common">): FollowedCluster {
  const { clock } = frame.common;
  const types = Object.entries<ObservedType>(observedTypes());
  /** By kind, since when its lists and watches fail. */
  const failing = new Map<string, { readonly since: number; readonly at: string }>();
  const noteFault = (kind: string, error: unknown) => {
    if (error === undefined) failing.delete(kind);
    else if (!failing.has(kind))
      failing.set(kind, { since: clock.monotonic(), at: new Date(clock.now()).toISOString() });
  };
  const stores: readonly (readonly [string, ReadStore<KubeObject>])[] = types.map(([name, { type, keep }]) => [
    name,
    frame.reflect(type, {
      ...{ selection: {}, transform: keep },
      onFault: (error) => noteFault(type.plural, error),
    }),
  ]);
  const unlisted = () =>
    types.flatMap(([, { type }], index) => (stores[index]?.[1].hasSynced === true ? [] : [type.plural]));
  const refuseOld = () => {
    const now = clock.monotonic();
    const old = [...failing].filter(([, { since }]) => now - since > FAILING);
    if (old.length === 0) return;
    const kinds = old.map(([kind, { at }]) => `${kind} (failing since ${at})`).join(", ");
    throw new NotListed({ kinds, seconds: FAILING / 1000 });
  };
  return {
    whenSynced: async (signal) => {
      if (unlisted().length === 0) {
        refuseOld();
        return;
      }
      try {
        await withDeadline({ clock, milliseconds: LISTING, signal, what: "the first lists" }, async (cut) => {
          for (const [, store] of stores) await store.whenSynced(cut);
        });
      } catch (error) {
        if (signal.aborted || !(error instanceof runtimeErrors.DeadlineExceeded)) throw error;
        throw new NotListed({ kinds: unlisted().join(", "), seconds: LISTING / 1000 });
      }
    },
    objects: () =>
      Object.fromEntries(stores.map(([name, store]) => [name, store.values()])) as unknown as ClusterObjects,
    pod: (key) => stores.find(([name]) => name === "pods")?.[1].get(key) as ObservedPod | undefined,
  };
}
