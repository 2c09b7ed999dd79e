import { durationMilliseconds, type Rebalance } from "@evenkeel/api";
import type { PolicySnapshot, ScheduledWindow } from "../decide/snapshot.ts";

type Tracking = NonNullable<Rebalance["spec"]["policy"]["targettracking"]>;

/** The policy of a Rebalance with its defaults. */
export function policySnapshot({ policy }: Pick<Rebalance["spec"], "policy">): PolicySnapshot {
  const { targettracking } = policy;
  // The schema requires exactly one policy, and there is only one kind.
  if (!targettracking) throw new TypeError("spec.policy.targettracking must be set");
  const { targetValue, baseValue, scope, onNoData, scheduled = [] } = targettracking;
  return {
    targetValue,
    baseValue,
    minimum: targettracking.minimum ?? 0,
    maximum: targettracking.maximum ?? null,
    scope,
    tolerance: targettracking.tolerance ?? 0,
    disableScaleIn: targettracking.disableScaleIn ?? false,
    smoothing: milliseconds(targettracking.smoothing) ?? 0,
    maxStepUp: targettracking.maxStepUp ?? null,
    maxStepDown: targettracking.maxStepDown ?? null,
    cooldownUp: milliseconds(targettracking.cooldownUp) ?? 0,
    cooldownDown: milliseconds(targettracking.cooldownDown) ?? 0,
    settle: milliseconds(targettracking.settle),
    onNoData,
    noDataValue: targettracking.noDataValue ?? null,
    scheduled: scheduled.map(scheduledWindow),
    timeZone: targettracking.timeZone ?? "UTC",
  };
}

function scheduledWindow({ startTime, endTime, value, days = [] }: Scheduled): ScheduledWindow {
  return { startTime, endTime, value, days };
}

type Scheduled = NonNullable<Tracking["scheduled"]>[number];

function milliseconds(duration: string | undefined): number | null {
  if (duration === undefined) return null;
  // The schema allows no other text. A negative value in an old object counts as 0.
  return Math.max(0, durationMilliseconds(duration) ?? 0);
}
