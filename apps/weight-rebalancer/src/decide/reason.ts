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
