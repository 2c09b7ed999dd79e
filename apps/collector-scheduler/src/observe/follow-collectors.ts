import {
  changesOf,
  joinStores,
  type KeySource,
  keyOf,
  type KubeObject,
  type Pod,
  pods,
  type ReadStore,
  type ResourceTypeOf,
  type StatefulSet,
  statefulSets,
} from "@evenkeel/kube";
import type { OperatorFrame } from "@evenkeel/operator";
import { MANAGED_BY, MANAGER, ownerOfSet } from "../act/collector-objects.ts";

/** The collectors of all CollectorLoadBalancers, as they are. */
export interface FollowedCollectors {
  readonly statefulSets: ReadStore<StatefulSet>;
  /** By the key of their StatefulSet. */
  readonly pods: ReadStore<Pod, "set">;
  /** The CollectorLoadBalancers whose collectors change. */
  readonly changes: readonly KeySource[];
}

/** Follows StatefulSets and pods with the label of collectors, in the watched namespaces. */
export function followCollectors(
  frame: Pick<OperatorFrame, "reflect">,
  namespaces: readonly string[] = [],
): FollowedCollectors {
  const watched = namespaces.length === 0 ? [{}] : namespaces.map((namespace) => ({ namespace }));
  const selections = watched.map((each) => ({ ...each, labelSelector: `${MANAGED_BY}=${MANAGER}` }));
  const follow = <T extends KubeObject, Index extends string>(
    type: ResourceTypeOf<T>,
    indexes: Readonly<Record<Index, (object: T) => readonly string[]>>,
  ) => joinStores<T, Index>(selections.map((selection) => frame.reflect(type, { selection, indexes })));
  const sets = follow<StatefulSet, never>(statefulSets, {});
  const collectors = follow(pods, { set: setKeys });
  const ownerKeys = (key: string) => ownerOfSet(key) ?? [];
  return {
    statefulSets: sets,
    pods: collectors,
    changes: [
      changesOf(sets, (set) => [ownerKeys(keyOf(set))].flat()),
      changesOf(collectors, (pod) => setKeys(pod).flatMap(ownerKeys)),
    ],
  };
}

function setKeys({ metadata: { namespace = "", ownerReferences = [] } }: Pod): readonly string[] {
  return ownerReferences.filter(({ kind }) => kind === "StatefulSet").map(({ name }) => `${namespace}/${name}`);
}
