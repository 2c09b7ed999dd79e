import type { Snapshot } from "@evenkeel/runtime";
import type { Smoothed } from "@evenkeel/scoring";

/** Everything that the weight of one Rebalance depends on. Times are milliseconds; null is what is unknown or not set. */
export interface WeightSnapshot extends Snapshot {
  readonly rebalance: { readonly namespace: string; readonly name: string; readonly generation: number };
  readonly policy: PolicySnapshot;
  readonly dryRun: boolean;
  /** Why nothing may be done whatever the numbers say; null when nothing is in the way. */
  readonly blocked: Blockage | null;
  readonly onExternalChange: "enforce" | "yield";
  readonly combine: "max" | "min" | "avg";
  readonly metrics: readonly MetricReading[];
  readonly targets: readonly TargetReading[];
  readonly memory: Memory;
}

export interface Blockage {
  readonly reason: "Paused" | "OriginalRuns";
  /** A sentence's end: `spec.suspend is set`. */
  readonly message: string;
}

/** spec.policy.targettracking with its defaults. */
export interface PolicySnapshot {
  readonly targetValue: number;
  readonly baseValue: number;
  readonly minimum: number;
  /** Null: what each target takes. */
  readonly maximum: number | null;
  readonly scope: "total" | "base";
  /** Part of targetValue, 0 to 1. */
  readonly tolerance: number;
  readonly disableScaleIn: boolean;
  /** Time constant; 0 does not smooth. */
  readonly smoothing: number;
  readonly maxStepUp: number | null;
  readonly maxStepDown: number | null;
  readonly cooldownUp: number;
  readonly cooldownDown: number;
  /** Null: the longest TTL of the targets when the scope is base, else 0. */
  readonly settle: number | null;
  readonly onNoData: "hold" | "minimum" | "value";
  readonly noDataValue: number | null;
  readonly scheduled: readonly ScheduledWindow[];
  readonly timeZone: string;
}

export type Weekday = "Mon" | "Tue" | "Wed" | "Thu" | "Fri" | "Sat" | "Sun";

export interface ScheduledWindow {
  /** HH:MM; the window ends before endTime, on the next day if that is before startTime. */
  readonly startTime: string;
  readonly endTime: string;
  readonly value: number;
  /** On which the window begins. Empty: every day. */
  readonly days: readonly Weekday[];
}

/** Why a metric has no value. */
export const METRIC_FAULTS = ["NoData", "NotANumber", "StaleMetric", "ManySeries", "QueryFailed"] as const;
export type MetricFault = (typeof METRIC_FAULTS)[number];

/** What a metric source answered: a number, or why there is none. */
export type MetricReading = { readonly source: string } & (
  | {
      /** A decimal as the server wrote it, so that nothing is lost on the way. */
      readonly value: string;
      readonly sampledAt: string;
      readonly fault: null;
      readonly message: null;
    }
  | { readonly value: null; readonly sampledAt: string | null; readonly fault: MetricFault; readonly message: string }
);

/** A place that the weight is written to, as it was read. */
export interface TargetReading {
  /** How a person would name it, such as `route53 Z1/www.example.com A blue`. */
  readonly target: string;
  /** What it takes, both ends included. */
  readonly minimum: number;
  readonly maximum: number;
  readonly weight: number | null;
  /** What shares the load with it, each with its weight. */
  readonly others: readonly { readonly name: string; readonly weight: number }[];
  /** How long resolvers may keep what was there before a change. */
  readonly timeToLive: number | null;
  /** A change was accepted and is not in effect everywhere. */
  readonly pending: boolean;
  /** Why there is no weight. */
  readonly message: string | null;
}

/** What was done before, as far as it matters for what comes next. */
export interface Memory {
  /** The moving average of the load of all environments. */
  readonly smoothed: Smoothed | null;
  /** The weight that was last carried out. Null: none yet, or forgotten. */
  readonly desired: number | null;
  readonly changedAt: number | null;
  readonly raisedAt: number | null;
  /**
   * The generation of spec under which somebody else's change is given way to: that of the last turn that left every target with
   * the desired weight. Under another, spec was edited since, and targets may differ for that alone.
   */
  readonly yieldedAt: number | null;
}

export const NO_MEMORY: Memory = { smoothed: null, desired: null, changedAt: null, raisedAt: null, yieldedAt: null };
