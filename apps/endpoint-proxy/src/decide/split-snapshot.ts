import type { Snapshot } from "@evenkeel/runtime";
import type { SplitPolicy } from "./split-policy.ts";

/** CPU in millicores, memory in bytes, and a number of pods. */
export interface Amount {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

export interface SplitScore {
  readonly source: "watts" | "capacity";
  readonly score: number;
  /** Allocatable less requests when the score was taken. Null if it is not known: then it limits nothing. */
  readonly free: Amount | null;
  /** Watts of one more CPU. Null if it is not known. */
  readonly marginalWatts: number | null;
}

/** A cluster as the split sees it. */
export interface SplitMember {
  readonly name: string;
  readonly own: boolean;
  readonly standing: "Ready" | "Unreachable" | "Unscored" | "Duplicate" | "Paused";
  /** Replicas of this workload that the cluster has been asked for so far. */
  readonly held: number;
  readonly score: SplitScore | null;
  /** What was placed there after the score was taken, and so is not in `free` yet. */
  readonly placedSince: Amount;
}

/** Everything that a split depends on. */
export interface SplitSnapshot extends Snapshot {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Replicas asked for in all. */
  readonly total: number;
  /** What one pod requests. */
  readonly requests: { readonly cpu: number; readonly memory: number };
  /** The own cluster first. */
  readonly members: readonly SplitMember[];
  readonly policy: SplitPolicy;
  /** Whether the policy has changed, so that what Ready clusters hold is divided once more. False if left out. */
  readonly anew?: boolean;
  readonly dryRun: boolean;
}
