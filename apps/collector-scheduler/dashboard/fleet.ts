import type { Condition, ObjectName, Tone } from "@evenkeel/dashboard/browser";

/** `common.v1.ObjectView` of a CollectorLoadBalancer in JSON. What is unknown is absent. */
export interface Fleet {
  readonly name: ObjectName;
  /** Absent where the replica does not lead. */
  readonly value?: Shares;
  readonly reason: string;
  readonly message: string;
  readonly decidedAt?: string;
  readonly dryRun: boolean;
  readonly paused: boolean;
  readonly conditions: readonly Condition[];
}

/** What src/serve/fleet-view.ts gives. */
export interface Shares {
  /** Null while not every source has answered. */
  readonly targets: number | null;
  /** The most loaded first, and no more than the service shows. */
  readonly collectors: readonly Collector[];
  readonly collectorCount: number;
  readonly maxOverMean: number | null;
  readonly minOverMean: number | null;
  readonly moves: number;
  readonly handingOver: number;
  /** Minute by minute since the replica leads, the oldest first. */
  readonly movement: readonly MovementPoint[];
}

export interface MovementPoint {
  /** When the minute began, in milliseconds. */
  readonly at: number;
  /** Targets that were given another collector. */
  readonly moved: number;
  readonly maxOverMean: number | null;
  readonly minOverMean: number | null;
}

export interface Collector {
  readonly name: string;
  /** Samples per second, with the cost of scrapes. */
  readonly load: number;
  readonly targets: number;
  readonly zone: string;
  readonly node: string;
  readonly leaving: boolean;
  readonly away: boolean;
}

/** The state of a CollectorLoadBalancer in one word. */
export function stateOf({ paused, conditions, value }: Fleet): readonly [Tone, string] {
  if (paused) return ["warn", "Paused"];
  if (conditions.some(({ type, status }) => type === "Ready" && status === "False")) return ["bad", "Not ready"];
  if (value === undefined) return ["quiet", "Waiting"];
  if (value.handingOver > 0) return ["accent", "Moving"];
  return value.collectors.some(({ away }) => away) ? ["warn", "Collector away"] : ["ok", "Level"];
}
