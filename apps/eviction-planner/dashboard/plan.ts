import type { Condition, ObjectName, Tone } from "@evenkeel/dashboard/browser";

/** `common.v1.ObjectView` of a RebalancePolicy in JSON. What is unknown is absent. */
export interface Policy {
  readonly name: ObjectName;
  /** The last plan; absent before the first, and where the replica does not lead. */
  readonly value?: Plan;
  readonly reason: string;
  readonly message: string;
  readonly decidedAt?: string;
  readonly dryRun: boolean;
  readonly paused: boolean;
  readonly conditions: readonly Condition[];
}

/** What src/serve/plan-view.ts gives. */
export interface Plan {
  readonly sigma: number;
  readonly predicted: number;
  readonly lowerBound: number;
  readonly hotNodes: number;
  readonly coldNodes: number;
  /** The hottest first, and no more than the service shows. */
  readonly nodes: readonly NodeLevel[];
  readonly nodeCount: number;
  readonly hotThreshold: number;
  readonly moves: readonly Move[];
  readonly moveCount: number;
  readonly stays: readonly Stay[];
}

export interface NodeLevel {
  readonly name: string;
  /** Null while its load is unknown: the node is frozen. */
  readonly now: number | null;
  readonly predicted: number | null;
}

export interface Move {
  readonly pod: string;
  readonly workload: string;
  readonly from: string;
  readonly landings: readonly { readonly node: string; readonly probability: number }[];
  /** How much the move lowers σ. */
  readonly gain: number;
}

export interface Stay {
  readonly reason: string;
  readonly sentence: string;
  readonly pods: number;
  readonly example: string;
}

/** The state of a policy in one word. */
export function stateOf({ paused, conditions, value, dryRun }: Policy): readonly [Tone, string] {
  if (paused) return ["warn", "Paused"];
  if (conditions.some(({ type, status }) => type === "Ready" && status === "False")) return ["bad", "Not ready"];
  if (value === undefined) return ["quiet", "Waiting"];
  if (value.moveCount === 0) return value.hotNodes > 0 ? ["warn", "Nothing helps"] : ["ok", "Level"];
  return dryRun ? ["quiet", "Dry run"] : ["accent", "Planned"];
}
