import type { Behaviour } from "./behaviour.ts";
import { budgetStatus } from "./budget-status.ts";
import { kubelet, type KubeletOptions } from "./nodes/kubelet.ts";
import { scheduling } from "./nodes/scheduling.ts";
import { endpointSlices } from "./traffic/endpoint-slices.ts";
import { deployments } from "./workloads/deployments.ts";
import { replicaSets } from "./workloads/replica-sets.ts";
import { statefulSets } from "./workloads/stateful-sets.ts";

/**
 * What makes a small living cluster of an API server: workloads have pods, pods have nodes, Services have endpoints.
 */
export function workloads(options: KubeletOptions = {}): readonly Behaviour[] {
  return [deployments, replicaSets, statefulSets, scheduling, kubelet(options), endpointSlices, budgetStatus];
}
