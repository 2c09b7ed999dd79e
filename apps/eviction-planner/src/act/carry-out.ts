import type { EvictionPlanner } from "@evenkeel/api";
import type { ConfigMap, Resource } from "@evenkeel/kube";
import type { ActContext } from "@evenkeel/operator";
import type { DecisionOf } from "@evenkeel/runtime";
import type { levelDecider } from "../decide/level-decider.ts";

/** Makes the world as it was decided. Setting the same level twice does no harm. */
export async function carryOut(
  { action, after, dryRun }: DecisionOf<typeof levelDecider>,
  { metadata, spec }: EvictionPlanner,
  configMaps: Resource<ConfigMap>,
  { checked, signal }: ActContext,
): Promise<void> {
  if (action === "hold" || dryRun) return;
  const name = { namespace: metadata.namespace, name: spec.configMap };
  await checked(configMaps).patch(name, { type: "merge", body: { data: { level: String(after) } } }, { signal });
}
