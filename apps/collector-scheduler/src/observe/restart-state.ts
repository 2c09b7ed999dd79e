import type { CollectorLoadBalancerSpec } from "@evenkeel/api";
import type { Pod, StatefulSet } from "@evenkeel/kube";
import type { RestartState } from "../decide/snapshot.ts";

const REVISION = "controller-revision-hash";

/**
 * Which pods are of an older template than the StatefulSet. That is known once its controller has seen the template.
 */
export function restartState(
  { restart: policy = "wait" }: Pick<CollectorLoadBalancerSpec, "restart">,
  set: StatefulSet | undefined,
  pods: readonly Pod[],
): RestartState {
  const partition = set?.spec?.updateStrategy?.rollingUpdate?.partition ?? null;
  const { observedGeneration = 0, updateRevision } = set?.status ?? {};
  const isKnown = updateRevision !== undefined && observedGeneration >= (set?.metadata.generation ?? 0);
  if (!isKnown) return { policy, outdated: null, partition };
  const isOutdated = ({ metadata: { labels } }: Pod) => labels?.[REVISION] !== updateRevision;
  const outdated = pods.filter(isOutdated).map(({ metadata: { name = "" } }) => name);
  return { policy, outdated: outdated.sort(), partition };
}
