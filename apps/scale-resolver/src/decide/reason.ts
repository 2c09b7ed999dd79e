/** Why a service is in its state. The same words are metric labels, Event reasons and dashboard texts. */
export const REASONS = [
  // Serve
  "TargetNotFound",
  "NoTrigger",
  "Busy",
  "TriggerUnknown",
  "Cooldown",
  "OutsidePeriod",
  "NoResolver",
  "ActivityUnknown",
  "EndpointsUnknown",
  "DryRun",
  // Serve to Guard
  "Idle",
  "LastPodLeaving",
  "NothingServes",
  "DrainPrepared",
  // Guard
  "PathUnproven",
  "InFlight",
  "Quieting",
  "RequestSeen",
  "Settling",
  "PodsReady",
  "Quiet",
  "ScaledToZero",
  "PodsStarting",
  // Zero and Wake
  "Asleep",
  "RequestHeld",
  "ScaledUp",
  "ReplicasUnknown",
  // anywhere
  "InvalidSpec",
  "Paused",
  "OriginalRuns",
  "Unsupported",
] as const;
export type Reason = (typeof REASONS)[number];
