/** Why a weight was decided. The same words are metric labels, Event reasons and shown by the dashboard. */
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
