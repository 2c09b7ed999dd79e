import type { Snapshot } from "@evenkeel/runtime";
import type { Smoothed } from "@evenkeel/scoring";

/** Everything that the weight of one Rebalance depends on. Times are in milliseconds; null means unknown or not set. */
export interface WeightSnapshot extends Snapshot {
  readonly rebalance: { readonly namespace: string; readonly name: string; readonly generation: number };
  readonly policy: PolicySnapshot;
  readonly dryRun: boolean;
  /** Why no change is allowed; null if changes are allowed. */
  readonly blocked: Blockage | null;
  readonly onExternalChange: "enforce" | "yield";
  readonly combine: "max" | "min" | "avg";
  readonly metrics: readonly MetricReading[];
  readonly targets: readonly TargetReading[];
  readonly memory: Memory;
}

export interface Blockage {
  readonly reason: "Paused" | "OriginalRuns" | "Conflict";
  /** The last clause of the message: `spec.suspend is set`. */
  readonly message: string;
}

/** spec.policy.targettracking with its defaults. */
export interface PolicySnapshot {
  readonly targetValue: number;
  readonly baseValue: number;
  readonly minimum: number;
  /** Null: the maximum of each target. */
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
  /** Days on which the window begins. Empty: every day. */
  readonly days: readonly Weekday[];
}

/** Why a metric has no value. */
export const METRIC_FAULTS = ["NoData", "NotANumber", "StaleMetric", "ManySeries", "QueryFailed"] as const;
export type MetricFault = (typeof METRIC_FAULTS)[number];

/** The answer of a metric source: a number, or why there is none. */
export type MetricReading = { readonly source: string } & (
  | {
      /** A decimal as the server wrote it, so that no digit is lost. */
      readonly value: string;
      readonly sampledAt: string;
      readonly fault: null;
      readonly message: null;
    }
  | { readonly value: null; readonly sampledAt: string | null; readonly fault: MetricFault; readonly message: string }
);

/** A target as it was read. */
export interface TargetReading {
  /** Such as `route53 Z1/www.example.com A blue`. */
  readonly target: string;
  /** The weights that it accepts, both ends included. */
  readonly minimum: number;
  readonly maximum: number;
  readonly weight: number | null;
  /** What shares the load with it, each with its weight. */
  readonly others: readonly { readonly name: string; readonly weight: number }[];
  /** How long clients may use the previous weights after a change. */
  readonly timeToLive: number | null;
  /** A change was accepted and is not in effect everywhere yet. */
  readonly pending: boolean;
  /** Why there is no weight. */
  readonly message: string | null;
}

/** What earlier reconciles did, as far as the next decision depends on it. */
export interface Memory {
  /** The moving average of the load of all environments. */
  readonly smoothed: Smoothed | null;
  /** The weight that was last written. Null: none yet, or unknown. */
  readonly desired: number | null;
  readonly changedAt: number | null;
  readonly raisedAt: number | null;
  /**
   * The generation of spec at which a change by another client is left alone: that of the last reconcile after which
   * every target had the desired weight. At another generation spec was edited since, which alone may explain the
   * difference.
   */
  readonly yieldedAt: number | null;
  /** The targets that did not accept `desired`, or whose answer was lost, while others accepted it. */
  readonly unwritten: readonly string[];
}

export const NO_MEMORY: Memory = {
  smoothed: null,
  desired: null,
  changedAt: null,
  raisedAt: null,
  yieldedAt: null,
  unwritten: [],
};
