import type { Decider, Verdict } from "@evenkeel/runtime";
import type { WeightSnapshot } from "./snapshot.ts";

export const WEIGHT_ACTIONS = ["raise", "lower", "hold"] as const;
export type WeightAction = (typeof WEIGHT_ACTIONS)[number];

/** Why a weight is what it is. The same words are metric labels, Event reasons and what the dashboard shows. */
export const WEIGHT_REASONS = [
  "TargetTracking",
  "Schedule",
  "Minimum",
  "Maximum",
  "StepLimit",
  "InStep",
  "WithinTolerance",
  "ScaleInDisabled",
  "Cooldown",
  "Settling",
  "NoData",
  "NotANumber",
  "StaleMetric",
  "ManySeries",
  "QueryFailed",
  "TargetUnknown",
  "AllZero",
  "ExternalChange",
  "Paused",
  "OriginalRuns",
] as const;
export type WeightReason = (typeof WEIGHT_REASONS)[number];

export type WeightVerdict = Verdict<WeightAction, WeightReason, number | null>;

function decide({ rebalance: { namespace, name }, targets }: WeightSnapshot): WeightVerdict {
  const weight = targets[0]?.weight ?? null;
  return {
    object: { kind: "Rebalance", namespace, name },
    action: "hold",
    reason: "NoData",
    before: weight,
    after: weight,
    message: "Nothing is known yet",
  };
}

export const weightDecider: Decider<WeightSnapshot, WeightAction, WeightReason, number | null> = {
  actions: WEIGHT_ACTIONS,
  reasons: WEIGHT_REASONS,
  decide,
};
