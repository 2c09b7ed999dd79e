import type { Decider, Snapshot, Verdict } from "@evenkeel/runtime";

export interface TankSnapshot extends Snapshot {
  readonly tank: string;
  /** Null while it is unknown. */
  readonly level: number | null;
  readonly target: number;
  readonly tolerance: number;
}

export type TrimAction = "fill" | "empty" | "hold";
export type TrimReason = "BelowTarget" | "AboveTarget" | "WithinTolerance" | "NoData";

/**
 * Pumps back to the target once the level is off by more than the tolerance. Without a level it holds: unknown is not
 * empty.
 */
function decide(snapshot: TankSnapshot): Verdict<TrimAction, TrimReason, number | null> {
  const { tank, level, target, tolerance } = snapshot;
  const about = { object: { kind: "Tank", name: tank }, before: level };
  if (level === null) {
    return {
      ...about,
      action: "hold",
      reason: "NoData",
      after: null,
      message: "The level is unknown; the pump stays off",
    };
  }
  if (Math.abs(level - target) <= tolerance) {
    const message = `Level ${level} is within ${tolerance} of ${target}`;
    return { ...about, action: "hold", reason: "WithinTolerance", after: level, message };
  }
  const [action, reason, side] =
    level < target ? (["fill", "BelowTarget", "below"] as const) : (["empty", "AboveTarget", "above"] as const);
  const message = `Level ${level} is ${side} ${target} by more than ${tolerance}; pumping to ${target}`;
  return { ...about, action, reason, after: target, message };
}

export const trimDecider: Decider<TankSnapshot, TrimAction, TrimReason, number | null> = {
  actions: ["fill", "empty", "hold"],
  reasons: ["BelowTarget", "AboveTarget", "WithinTolerance", "NoData"],
  decide,
};
