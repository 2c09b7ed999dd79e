import type { KubeObject, ReadStore } from "@evenkeel/kube";
import type { OperatorFrame } from "@evenkeel/operator";
import { runtimeErrors, withDeadline } from "@evenkeel/runtime";
import { NotListed } from "../../errors.ts";
import type { ObservedPod } from "./observed-pod.ts";
import { type ClusterObjects, type ObservedType, observedTypes } from "./cluster-objects.ts";

/** The cluster as reflectors follow it. */
export interface FollowedCluster {
  /**
   * Resolves once every kind was listed, and rejects if that takes long. A plan that does not know all disruption
   * budgets must not be made.
   */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** The objects as they are now. */
  objects(): ClusterObjects;
  /** A pod as it is now, by `namespace/name`. */
  pod(key: string): ObservedPod | undefined;
}

/** Milliseconds to wait for the first list of every kind. */
const LISTING = 15_000;

/**
 * Follows every object that a plan depends on, in all namespaces: a node's load is that of all its pods, whoever may
 * evict them.
 */
export function followCluster(frame: Pick<OperatorFrame, "reflect" | "common">): FollowedCluster {
  const { clock } = frame.common;
  const types = Object.entries<ObservedType>(observedTypes());
  const stores: readonly (readonly [string, ReadStore<KubeObject>])[] = types.map(([name, { type, keep }]) => [
    name,
    frame.reflect(type, { selection: {}, transform: keep }),
  ]);
  const unlisted = () =>
    types.flatMap(([, { type }], index) => (stores[index]?.[1].hasSynced === true ? [] : [type.plural]));
  return {
    whenSynced: async (signal) => {
      if (unlisted().length === 0) return;
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
