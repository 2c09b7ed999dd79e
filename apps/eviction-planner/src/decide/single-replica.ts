import type { ClusterSnapshot, OwnerRow } from "./snapshot.ts";

/** How the only pod of a workload is moved. */
export type SingleReplica = "evict" | "skip" | "surge";

export interface SingleReplicaRule {
  readonly how: SingleReplica;
  /** The WorkloadSLO that asks for it, as `namespace/name`; null if none does. */
  readonly by: string | null;
}

const STRICTEST: readonly SingleReplica[] = ["skip", "surge"];

/** What the WorkloadSLOs of a namespace ask for; the strictest of them counts. */
export function singleReplicaRule(slos: ClusterSnapshot["slos"], namespace: string): SingleReplicaRule {
  for (const how of STRICTEST) {
    const found = slos.find((slo) => slo.namespace === namespace && slo.spec.singleReplica === how);
    if (found !== undefined) return { how, by: `${namespace}/${found.name}` };
  }
  return { how: "evict", by: null };
}

/** Whether a pod of the owner is moved by restarting a rollout. */
export function isSurged(owner: OwnerRow | undefined, slos: ClusterSnapshot["slos"]): boolean {
  if (owner?.replicas !== 1 || owner.canSurge !== true) return false;
  return singleReplicaRule(slos, owner.namespace).how === "surge";
}
