import {
  changesOf,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  joinStores,
  type KeySource,
  keepOnly,
  type ReadStore,
} from "@evenkeel/kube";
import type { OperatorFrame } from "@evenkeel/operator";
import { collectorLoadBalancers } from "../collector-load-balancer-resource.ts";

/** The HorizontalPodAutoscalers of CollectorLoadBalancers. */
export interface FollowedAutoscalers {
  /** By the key of the CollectorLoadBalancer. */
  readonly store: ReadStore<HorizontalPodAutoscaler, "object">;
  readonly changes: KeySource;
}

/** Follows HorizontalPodAutoscalers in the watched namespaces. */
export function followAutoscalers(
  frame: Pick<OperatorFrame, "reflect">,
  namespaces: readonly string[] = [],
): FollowedAutoscalers {
  const watched = namespaces.length === 0 ? [{}] : namespaces.map((namespace) => ({ namespace }));
  const options = {
    transform: keepOnly<HorizontalPodAutoscaler>("spec.scaleTargetRef"),
    indexes: { object: objectKeys },
  };
  const stores = watched.map((selection) => frame.reflect(horizontalPodAutoscalers, { ...options, selection }));
  const store = joinStores<HorizontalPodAutoscaler, "object">(stores);
  return { store, changes: changesOf(store, objectKeys) };
}

function objectKeys({ metadata: { namespace = "" }, spec }: HorizontalPodAutoscaler): readonly string[] {
  const { kind, name, apiVersion = "" } = spec.scaleTargetRef;
  const isOurs = kind === collectorLoadBalancers.kind && apiVersion.startsWith(`${collectorLoadBalancers.group}/`);
  return isOurs ? [`${namespace}/${name}`] : [];
}
