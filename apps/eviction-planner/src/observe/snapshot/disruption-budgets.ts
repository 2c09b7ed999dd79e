import type { PodDisruptionBudget } from "@evenkeel/kube";
import type { DisruptionBudgetRow } from "../../decide/snapshot.ts";

/** A PodDisruptionBudget as the eviction API applies it. */
export function disruptionBudgetRow({ metadata, spec, status }: PodDisruptionBudget): DisruptionBudgetRow {
  const { namespace = "", name = "", generation = 0 } = metadata;
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0, observedGeneration = 0 } = status ?? {};
  const couldSync = !status?.conditions?.some(({ reason }) => reason === "SyncFailed");
  return {
    ...{ namespace, name, disruptionsAllowed, currentHealthy, desiredHealthy },
    selector: spec?.selector ?? null,
    alwaysAllowUnhealthy: spec?.unhealthyPodEvictionPolicy === "AlwaysAllow",
    isCurrent: couldSync && observedGeneration >= generation,
  };
}
