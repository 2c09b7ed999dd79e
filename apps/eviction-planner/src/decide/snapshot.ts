import type { Snapshot } from "@evenkeel/runtime";

/** Everything that a decision depends on, as plain JSON. */
export interface LevelSnapshot extends Snapshot {
  readonly namespace: string;
  readonly name: string;
  /** Null while it is unknown. */
  readonly level: number | null;
  readonly wanted: number;
  readonly paused: boolean;
  readonly dryRun: boolean;
}
