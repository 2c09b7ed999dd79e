import type { Snapshot } from "@evenkeel/runtime";
import type { Room, ScoreSource, Standing } from "./standing.ts";

/** A node of the own cluster. What could not be read is null, with a fault that says why. */
export interface NodeReading {
  readonly name: string;
  /** Predicted watts at its present use. */
  readonly watts: number | null;
  /** Predicted watts of one more CPU; null without room for it, too. */
  readonly marginalWatts: number | null;
  readonly fault: string | null;
  /** Whether it is ready and takes new pods. Other nodes have no room. */
  readonly schedulable: boolean;
  readonly free: Room;
  readonly whole: Room;
  /** CPU capacity in cores, which its use is a part of; 0 if unknown. */
  readonly capacity: number;
}

/** What is read of the own cluster. */
export interface ClusterReading {
  readonly source: ScoreSource;
  readonly nodes: readonly NodeReading[];
  /** Why no node could be read at all; null if there was no such fault. */
  readonly fault: string | null;
}

/** What a peer said about itself. */
export interface PeerScore {
  readonly source: ScoreSource;
  readonly score: number;
  readonly cost: number;
  readonly nodes: readonly { readonly name: string; readonly score: number }[];
  readonly failedNodes: number | null;
  readonly free: Room | null;
  readonly whole: Room | null;
  readonly marginalWatts: number | null;
  readonly serverVersion: string | null;
  /** Milliseconds since the score was seen to change, by the clock of this process. */
  readonly age: number;
}

/** What asking a peer gave. */
export interface PeerReading {
  readonly answered: boolean;
  /** Why there is no score; null if there is one. */
  readonly fault: {
    readonly reason: "Unreachable" | "Refused" | "Duplicate" | "NoScore";
    readonly message: string;
  } | null;
  readonly score: PeerScore | null;
}

/** That a ClusterScore stands for a cluster that takes part already. */
export interface Duplicate {
  readonly reason: "OwnCluster" | "ListedTwice" | "ProxyLoop";
  readonly message: string;
}

/** Everything that a member's standing and score depend on, as plain JSON. */
export interface ScoreSnapshot extends Snapshot {
  readonly namespace: string;
  readonly name: string;
  readonly before: Standing | null;
  readonly paused: boolean;
  /** Holder of the original's Lease; null if the original does not run. */
  readonly original: string | null;
  /** What is wrong with the spec; null if nothing. */
  readonly invalid: string | null;
  readonly duplicate: Duplicate | null;
  /** What the annotation `evenkeel.io/cost` says; null without one. */
  readonly cost: number | null;
  /** Milliseconds after which a score is too old. */
  readonly limit: number;
  /** Of the own member. */
  readonly cluster: ClusterReading | null;
  /** Of a peer. */
  readonly peer: PeerReading | null;
}
