import { parseRebalancePolicy } from "@evenkeel/api";
import type { Clock } from "@evenkeel/runtime";
import type { Plan } from "../decide/answer.ts";
import type { ClusterSnapshot, PlanMemory, PlanSnapshot, Selecting } from "../decide/snapshot.ts";
import type { StoredPolicy } from "../policy-resource.ts";
import type { FollowedCluster } from "./cluster/follow-cluster.ts";
import type { InFlight } from "./snapshot/owners.ts";
import { snapshotOf } from "./snapshot/snapshot-of.ts";
import { NO_USAGE, type Usage } from "./usage/usage.ts";
import type { UsageReader } from "./usage/usage-reader.ts";
import type { Answer, FurtherQuestions } from "./worker/answer-plan.ts";

export interface PlanningOptions {
  readonly cluster: FollowedCluster;
  readonly policies: () => Iterable<StoredPolicy>;
  readonly usage: Pick<UsageReader, "read">;
  readonly study: (snapshot: PlanSnapshot, further: FurtherQuestions, signal: AbortSignal) => Promise<Answer>;
  readonly clock: Clock;
  /** Bytes of emptyDir volumes above which a pod stays. */
  readonly emptyDirLimit: number;
  /** Whether rollouts may be restarted to move the only pod of a workload. */
  readonly surges: boolean;
  /** Evictions whose replacement is not ready yet. */
  readonly inFlight: () => readonly InFlight[];
}

export interface Planned {
  readonly snapshot: PlanSnapshot;
  readonly plan: Plan;
  /** Why usage could not be read; null if it could, or is not needed. */
  readonly usageFault: string | null;
  /** When the newest usage of a node was measured, in milliseconds since the epoch; null if none is known. */
  readonly measuredAt: number | null;
}

/** A plan with answers to further questions. */
export interface Studied extends Planned {
  readonly answer: Answer;
}

/** What a plan must know of earlier evictions, in the light of the cluster as it is now. */
export type Recall = (cluster: ClusterSnapshot) => PlanMemory | null;

/** What is asked besides the plan, and how many evictions it may have. */
export interface Asked extends FurtherQuestions {
  readonly budget: number;
}

/** The most evictions of one plan. */
export const MOST_EVICTIONS = 1000;

const ONLY_THE_PLAN: Asked = { budget: MOST_EVICTIONS, prices: false, band: null };

/** Makes plans from the cluster as it is now. */
export class Planning {
  readonly #options: PlanningOptions;

  constructor(options: PlanningOptions) {
    this.#options = options;
  }

  /** `recall` gives what is remembered of evictions; null for a plan that nobody carries out. */
  async plan(policy: PlanSnapshot["policy"], recall: Recall, signal: AbortSignal): Promise<Planned> {
    return this.study(policy, recall, ONLY_THE_PLAN, signal);
  }

  async study(
    policy: PlanSnapshot["policy"],
    recall: Recall,
    { budget, ...further }: Asked,
    signal: AbortSignal,
  ): Promise<Studied> {
    const { cluster, usage: reader, study, clock, emptyDirLimit, surges, inFlight } = this.#options;
    await cluster.whenSynced(signal);
    const { usage, fault } = policy.spec.basis === "usage" ? await reader.read() : { usage: NO_USAGE, fault: null };
    const at = clock.now();
    const options = { at, policy, earlier: this.#earlier(policy.name), memory: null, budget, emptyDirLimit, surges };
    const observed = await snapshotOf(cluster.objects(), usage, { ...options, inFlight: inFlight() });
    const snapshot = { ...observed, memory: recall(observed.cluster) };
    const answer = await study(snapshot, further, signal);
    return { snapshot, answer, plan: answer.plan, usageFault: fault, measuredAt: newest(usage) };
  }

  /** The policies whose names come first. One that cannot be read selects nothing. */
  #earlier(name: string): readonly Selecting[] {
    return Array.from(this.#options.policies())
      .filter(({ metadata }) => (metadata.name ?? "") < name && metadata.deletionTimestamp === undefined)
      .sort((one, other) => ((one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1))
      .flatMap((object) => {
        const parsed = parseRebalancePolicy(object);
        if (!parsed.ok) return [];
        const { namespaces, workloadSelectors } = parsed.value.spec;
        const spec = { ...(namespaces && { namespaces }), ...(workloadSelectors && { workloadSelectors }) };
        return [{ name: object.metadata.name ?? "", spec }];
      });
  }
}

function newest({ nodes }: Usage): number | null {
  let at: number | null = null;
  for (const measured of nodes.values()) if (at === null || measured.at > at) at = measured.at;
  return at;
}
