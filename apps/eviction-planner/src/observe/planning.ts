import type { Clock } from "@evenkeel/runtime";
import type { Plan } from "../decide/answer.ts";
import type { ClusterSnapshot, PlanMemory, PlanSnapshot } from "../decide/snapshot.ts";
import type { FollowedCluster } from "./cluster/follow-cluster.ts";
import { snapshotOf } from "./snapshot/snapshot-of.ts";
import { NO_USAGE, type Usage } from "./usage/usage.ts";
import type { UsageReader } from "./usage/usage-reader.ts";

export interface PlanningOptions {
  readonly cluster: FollowedCluster;
  readonly usage: Pick<UsageReader, "read">;
  readonly plan: (snapshot: PlanSnapshot, signal: AbortSignal) => Promise<Plan>;
  readonly clock: Clock;
  /** Bytes of emptyDir volumes above which a pod stays. */
  readonly emptyDirLimit: number;
}

export interface Planned {
  readonly snapshot: PlanSnapshot;
  readonly plan: Plan;
  /** Why usage could not be read; null if it could, or is not needed. */
  readonly usageFault: string | null;
  /** When the newest usage of a node was measured, in milliseconds since the epoch; null if none is known. */
  readonly measuredAt: number | null;
}

/** What a plan must know of earlier evictions, in the light of the cluster as it is now. */
export type Recall = (cluster: ClusterSnapshot, at: number) => PlanMemory | null;

/** The most evictions of one plan. */
const MOST_EVICTIONS = 1000;

/** Makes plans from the cluster as it is now. */
export class Planning {
  readonly #options: PlanningOptions;

  constructor(options: PlanningOptions) {
    this.#options = options;
  }

  /** `recall` gives what is remembered of evictions; null for a plan that nobody carries out. */
  async plan(policy: PlanSnapshot["policy"], recall: Recall, signal: AbortSignal): Promise<Planned> {
    const { cluster, usage: reader, plan, clock, emptyDirLimit } = this.#options;
    await cluster.whenSynced(signal);
    const { usage, fault } = policy.spec.basis === "usage" ? await reader.read() : { usage: NO_USAGE, fault: null };
    const at = clock.now();
    const options = { at, policy, memory: null, budget: MOST_EVICTIONS, emptyDirLimit };
    const observed = await snapshotOf(cluster.objects(), usage, options);
    const snapshot = { ...observed, memory: recall(observed.cluster, at) };
    return { snapshot, plan: await plan(snapshot, signal), usageFault: fault, measuredAt: newest(usage) };
  }
}

function newest({ nodes }: Usage): number | null {
  let at: number | null = null;
  for (const measured of nodes.values()) if (at === null || measured.at > at) at = measured.at;
  return at;
}
