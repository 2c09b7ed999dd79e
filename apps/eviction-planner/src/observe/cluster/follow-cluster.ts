import type { KubeObject, ReadStore } from "@evenkeel/kube";
import type { OperatorFrame } from "@evenkeel/operator";
import type { ObservedPod } from "./observed-pod.ts";
import { type ClusterObjects, type ObservedType, observedTypes } from "./cluster-objects.ts";

/** The cluster as reflectors follow it. */
export interface FollowedCluster {
  /** Resolves once every kind was listed. A plan that does not know all disruption budgets must not be made. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** The objects as they are now. */
  objects(): ClusterObjects;
  /** A pod as it is now, by `namespace/name`. */
  pod(key: string): ObservedPod | undefined;
}

/**
 * Follows every object that a plan depends on, in all namespaces: a node's load is that of all its pods, whoever may
 * evict them.
 */
export function followCluster(frame: Pick<OperatorFrame, "reflect">): FollowedCluster {
  const types = Object.entries<ObservedType>(observedTypes());
  const stores: readonly (readonly [string, ReadStore<KubeObject>])[] = types.map(([name, { type, keep }]) => [
    name,
    frame.reflect(type, { selection: {}, transform: keep }),
  ]);
  return {
    whenSynced: async (signal) => {
      for (const [, store] of stores) await store.whenSynced(signal);
    },
    objects: () =>
      Object.fromEntries(stores.map(([name, store]) => [name, store.values()])) as unknown as ClusterObjects,
    pod: (key) => stores.find(([name]) => name === "pods")?.[1].get(key) as ObservedPod | undefined,
  };
}
