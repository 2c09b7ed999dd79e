import type { Condition, ObjectName, Tone } from "@evenkeel/dashboard/browser";

/** `evictions.v1.PolicyPlan` in JSON. What is unknown is absent. */
export interface Policy {
  readonly policy: ObjectName;
  /** The last plan; absent before the first, and where the replica does not lead. */
  readonly plan?: Plan;
  readonly reason: string;
  readonly message: string;
  readonly decidedAt?: string;
  readonly dryRun: boolean;
  readonly paused: boolean;
  readonly conditions: readonly Condition[];
}

/** `evictions.v1.Plan`. */
export interface Plan {
  readonly sigma: number;
  readonly predicted: number;
  readonly lowerBound: number;
  readonly hotNodes: number;
  readonly coldNodes: number;
  /** The hottest first, and no more than the service shows. */
  readonly nodes: readonly NodeLevel[];
  readonly nodeCount: number;
  readonly frozenNodes: number;
  readonly heat: HeatStrip;
  readonly hotThreshold: number;
  readonly moves: readonly Move[];
  readonly moveCount: number;
  readonly stays: readonly Stay[];
  readonly budgets: readonly Budget[];
}

/** One entry a node in thousandths, the hottest first; -1 is unknown. */
export interface HeatStrip {
  readonly now: readonly number[];
  readonly predicted: readonly number[];
  readonly before: readonly number[];
  readonly foretold: readonly number[];
}

export interface Budget {
  readonly kind: string;
  readonly by: string;
  readonly limit: number;
  readonly used: number;
}

/** `evictions.v1.HistoryResponse`. */
export interface History {
  readonly points: readonly HistoryPoint[];
}

export interface HistoryPoint {
  readonly at: string;
  readonly sigma: number;
  readonly predicted: number;
  readonly lowerBound: number;
}

/** Of `evictions.v1.WhatIfResponse`. */
export interface Prices {
  readonly prices: readonly {
    readonly reason: string;
    readonly by: string;
    readonly sigma: number;
    readonly evictions: number;
  }[];
}

export interface NodeLevel {
  readonly name: string;
  /** Absent while its load is unknown: the node is frozen. */
  readonly now?: number;
  readonly predicted?: number;
}

export interface Move {
  readonly pod: string;
  readonly workload: string;
  readonly from: string;
  readonly landings: readonly { readonly node: string; readonly probability: number }[];
  /** How much the move lowers σ. */
  readonly gain: number;
  /** Limits that it counts in. */
  readonly limits: readonly string[];
}

export interface Stay {
  readonly reason: string;
  readonly sentence: string;
  readonly pods: number;
  readonly example: string;
}

/** The state of a policy in one word. */
export function stateOf({ paused, conditions, plan, dryRun }: Policy): readonly [Tone, string] {
  if (paused) return ["warn", "Paused"];
  if (conditions.some(({ type, status }) => type === "Ready" && status === "False")) return ["bad", "Not ready"];
  if (plan === undefined) return ["quiet", "Waiting"];
  if (plan.moveCount === 0) return plan.hotNodes > 0 ? ["warn", "Nothing helps"] : ["ok", "Level"];
  return dryRun ? ["quiet", "Dry run"] : ["accent", "Planned"];
}
