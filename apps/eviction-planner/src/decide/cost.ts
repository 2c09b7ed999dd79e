import { type PlanSnapshot, POD } from "./snapshot.ts";

/** The highest share of its gain that a move can lose for what it disturbs. */
const MOST = 0.9;

/**
 * How much an eviction disturbs, as the share of its gain that it takes: 0 for one of many stateless replicas, near
 * {@link MOST} for a single stateful replica with volumes and high priority. So of two moves with the same gain the
 * gentler one is made, and a move of far greater gain is still made.
 */
export function costOf({ cluster, policy }: PlanSnapshot, pod: number): number {
  const { pods, owners } = cluster;
  const owner = owners[pods.owner[pod] as number];
  const flags = pods.flags[pod] as number;
  const weight =
    (policy.spec.respectPodPriority ? clamp((pods.priority[pod] as number) / 1e9, 0, 1) : 0) +
    clamp((pods.deletionCost[pod] as number) / 2 ** 31, -1, 1) +
    0.5 * shareOfReplicas(owner?.replicas ?? 1) +
    ((flags & (POD.zonalVolume | POD.otherVolume)) === 0 ? 0 : 0.25) +
    ((flags & POD.emptyDir) === 0 ? 0 : 0.05) +
    (owner?.kind === "StatefulSet" ? 0.5 : 0);
  return (MOST * Math.max(0, weight)) / (1 + Math.max(0, weight));
}

/** 1 for a single replica, near 0 for one of many. */
function shareOfReplicas(replicas: number): number {
  return replicas <= 1 ? 1 : 1 / replicas ** 2;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
