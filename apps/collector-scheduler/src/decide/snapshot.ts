import type { Snapshot } from "@evenkeel/runtime";
import type { Fallback, Member, Memory, Poll, Pool } from "./assignments.ts";

/** A seat of a collector: its pod, or the place that is kept for it. */
export interface Collector {
  readonly name: string;
  /** Of its pod in the StatefulSet. */
  readonly ordinal: number;
  readonly zone?: string;
  readonly node?: string;
  /** Since when its pod is gone or not ready, in milliseconds; null if it is ready. */
  readonly awaySince: number | null;
  /** Since when its pod is ready, in milliseconds; absent if that is long ago. */
  readonly readySince?: number;
  /** A container of its pod has restarted. */
  readonly hasCrashed?: boolean;
}

/** Settings of the object, with defaults. Times are in milliseconds. */
export interface FleetSettings {
  readonly pool: Pool;
  readonly fallback: Fallback;
  readonly seatGrace: number;
  /** Null: no limit. */
  readonly movesPerMinute: number | null;
  readonly cooldown: number;
  readonly handOver: "overlap" | "gap";
  /** Jobs that the policy of hand-overs is for; null is all. */
  readonly handOverJobs: readonly string[] | null;
}

/** What the number of collectors depends on. */
export interface ScaleSettings {
  /** Replicas that the StatefulSet has in its spec; 0 without one. */
  readonly present: number;
  /** `spec.replicas`; null if absent. */
  readonly replicas: number | null;
  /** `spec.scale` while enabled. */
  readonly scaler: {
    readonly expectedTargets: number | null;
    readonly min: number | null;
    readonly max: number | null;
  } | null;
  /** Targets that were found so far, also while not every source has answered; absent in older recordings. */
  readonly knownTargets?: number;
}

/** What restarts for a new image or configuration depend on. */
export interface RestartState {
  /** `handOver`: targets are handed over before their collector restarts. */
  readonly policy: "wait" | "handOver";
  /** Names of collectors with a pod of an older template; null while that is not known. */
  readonly outdated: readonly string[] | null;
  /** Of the StatefulSet: pods with a lower ordinal are not restarted. Null without one. */
  readonly partition: number | null;
}

/** A member with all its targets. */
export interface LoadedMember extends Member {
  readonly load: number;
  readonly targets: number;
}

/**
 * Targets as columns: those of a key are one row. Only rows that may move are here: new and orphaned ones, those with
 * another rendezvous owner than before, and those of collectors that give load away.
 */
export interface TargetColumns {
  readonly key: readonly string[];
  /** Samples per second, with the cost of scrapes. */
  readonly load: readonly number[];
  /** Index in {@link FleetSnapshot.jobs}. */
  readonly job: readonly number[];
  /** Index in {@link FleetSnapshot.members} of the owner before the decision; -1 if it has none. */
  readonly owner: readonly number[];
  /** Index in {@link FleetSnapshot.pools} of its zone or node; -1 if it has none, or targets have no pools. */
  readonly pool: readonly number[];
  /** When an owner last died with it; -1 if none did. */
  readonly diedAt: readonly number[];
  /** 1 if an exception says who owns it. */
  readonly pinned: readonly number[];
}

/** A target on its way from one owner to another. */
export interface HandOver {
  readonly key: string;
  readonly job: string;
  readonly pool: string | null;
  readonly load: number;
  /** Milliseconds between two scrapes. */
  readonly interval: number;
  readonly owner: string;
  readonly from: string;
  readonly gap: boolean;
  readonly since: number;
  readonly seenAt: number | null;
  readonly diedAt: number | null;
}

/** A target under which two owners died. */
export interface SetApart {
  readonly key: string;
  readonly owner: string;
  /** When it was set apart, as {@link Assignments.at}. */
  readonly since: number;
}

/** Everything that a decision about one CollectorLoadBalancer depends on. */
export interface FleetSnapshot extends Snapshot {
  readonly namespace: string;
  readonly name: string;
  readonly paused: boolean;
  readonly dryRun: boolean;
  /** Why nothing may change; null if it may. */
  readonly stop: { readonly reason: StopReason; readonly message: string } | null;
  readonly settings: FleetSettings;
  readonly scale: ScaleSettings;
  readonly restart: RestartState;
  /** All targets that are to be scraped; null while not every source has answered. */
  readonly targetCount: number | null;
  /** Why the loads of targets are not known; null if they are. Nothing is levelled while they are not. */
  readonly loadFault: string | null;
  readonly collectors: readonly Collector[];
  /** Collectors that are to hand their targets over, such as before a restart. */
  readonly drain: readonly string[];
  /** {@link Assignments.at} of the assignments that are in force. */
  readonly assignedAt: number;
  /** Members before the decision. */
  readonly members: readonly LoadedMember[];
  /** Whether zone and node were pools when the assignments were recorded. */
  readonly recordedPool: { readonly pool: Pool; readonly fallback: Fallback };
  readonly jobs: readonly string[];
  readonly pools: readonly string[];
  readonly targets: TargetColumns;
  readonly handOvers: readonly HandOver[];
  /** Keys of exceptions that say nothing any more: their target is gone, or is with its rendezvous owner anyway. */
  readonly stale: readonly string[];
  /** Targets that are set apart, because two of their owners died. */
  readonly apart: readonly SetApart[];
  /** Of collectors and jobs with a hand-over. */
  readonly polls: readonly Poll[];
  readonly memory: Memory;
}

/** Why nothing may change, whatever the plan is. */
export type StopReason = "StateAway" | "OriginalRuns" | "Waiting";
