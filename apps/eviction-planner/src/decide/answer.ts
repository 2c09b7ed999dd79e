import type { BandState } from "@evenkeel/scoring";
import type { Hold } from "./obstacles.ts";
import type { PolicyFault } from "./policy-faults.ts";
import type { PlanUnderWay } from "./snapshot.ts";
import type { FrozenReason } from "./utilisation.ts";

/**
 * How planning ended.
 * - `TargetReached`: σ or variance is at the policy's target, and no node is hot.
 * - `BudgetSpent`: more moves would help, but the plan may not have more.
 * - `AsLevelAsItGets`: no further move helps, or none is allowed.
 * - `NothingKnown`: the load of fewer than two nodes is known.
 * - `InvalidPolicy`: the policy contradicts itself; `faults` names the fields.
 */
export type Outcome = "TargetReached" | "BudgetSpent" | "AsLevelAsItGets" | "NothingKnown" | "InvalidPolicy";

/** A plan: which pods to evict, in this order, and what that is expected to bring. */
export interface Plan {
  readonly policy: string;
  readonly outcome: Outcome;
  readonly faults: readonly PolicyFault[];
  readonly nodes: {
    readonly known: number;
    readonly hot: number;
    readonly cold: number;
    readonly frozen: readonly { readonly node: string; readonly reason: FrozenReason }[];
  };
  /**
   * Standard deviation of the utilisation of known nodes; null if it is not known. `bound` is what no plan with as many
   * evictions can beat.
   */
  readonly sigma: { readonly before: number; readonly predicted: number; readonly bound: number } | null;
  /**
   * σ for each number of evictions: of this plan if only its first k moves are made, and what no plan can beat. The
   * first element of both is σ before.
   */
  readonly curve: { readonly predicted: readonly number[]; readonly bound: readonly number[] };
  readonly classes: readonly {
    readonly name: string;
    readonly nodes: number;
    readonly before: number;
    readonly predicted: number;
  }[];
  readonly moves: readonly PlannedMove[];
  /** Where the replacements of all moves are likely to land. Empty for a question that nobody carries out. */
  readonly likelyNodes: readonly string[];
  /**
   * How many pods of sources stay for which reason, the commonest first. Sources are nodes that the policy wants to
   * relieve.
   */
  readonly held: readonly (Hold & { readonly pods: number })[];
  /** Pods of hot nodes that stay, and why. */
  readonly stays: readonly Stay[];
  readonly rightSizing: readonly RightSizing[];
  /** What the next plan is given as `memory.levels`. */
  readonly levels: Readonly<Record<string, BandState>>;
  /** What the next plan is given as `memory.underWay`. */
  readonly underWay: PlanUnderWay | null;
}

export interface PodName {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The workload that people know: a Deployment, not its ReplicaSet. Null without an owner. */
  readonly workload: { readonly kind: string; readonly name: string } | null;
}

export interface PlannedMove {
  readonly pod: PodName;
  /** The uid of its controller. */
  readonly owner: string;
  readonly shape: number;
  readonly from: string;
  /** Where the replacement is expected, the likeliest first. */
  readonly landings: readonly { readonly node: string; readonly probability: number }[];
  /** The one of them that the plan goes on with. */
  readonly countedOn: string;
  /** σ after this move and all before it, and by how much this one changes it. */
  readonly sigma: number;
  readonly deltaSigma: number;
  /** The share of its gain that the move loses for what it disturbs. */
  readonly cost: number;
  /** Limits that the eviction counts in. */
  readonly limits: readonly Hold[];
}

export interface Stay extends Hold {
  readonly pod: PodName;
  readonly node: string;
}

/** A workload whose pods use far less or far more than they request. The scheduler sees requests only. */
export interface RightSizing {
  readonly namespace: string;
  readonly workload: { readonly kind: string; readonly name: string };
  readonly resource: "cpu" | "memory";
  /** Milli-CPU or bytes of one pod. */
  readonly requested: number;
  readonly used: number;
  readonly pods: number;
}
