import { openWindow } from "./schedule.ts";
import type { ScheduledWindow, WeightSnapshot } from "./snapshot.ts";

/** The range of weights that may be decided. */
export interface Bounds {
  readonly floor: number;
  readonly ceiling: number;
  /** The window that raises the floor above the minimum; undefined if none does. */
  readonly window: ScheduledWindow | undefined;
}

export type Bound = "Schedule" | "Minimum" | "Maximum";

/**
 * The floor is the highest of the policy's minimum and the values of the open windows. The ceiling is the policy's
 * maximum, or the highest weight that any target accepts. If the floor is above the ceiling, the ceiling wins. The
 * range of each target is applied later.
 */
export function boundsOf({ at, policy, targets }: WeightSnapshot): Bounds {
  const open = openWindow(policy.scheduled, policy.timeZone, Date.parse(at));
  const window = open && open.value > policy.minimum ? open : undefined;
  const least = Math.min(...targets.map(({ minimum }) => minimum));
  const most = Math.max(...targets.map(({ maximum }) => maximum));
  const ceiling = Math.min(policy.maximum ?? most, most);
  return { floor: Math.min(Math.max(policy.minimum, window?.value ?? 0, least), ceiling), ceiling, window };
}

/** `weight` within the bounds, and the bound that changed it. */
export function bounded(weight: number, { floor, ceiling, window }: Bounds): { weight: number; bound: Bound | null } {
  if (weight > ceiling) return { weight: ceiling, bound: "Maximum" };
  if (weight < floor) return { weight: floor, bound: window ? "Schedule" : "Minimum" };
  return { weight, bound: null };
}

/** A clause that describes the bound. */
export function boundText(bound: Bound, { floor, ceiling, window }: Bounds): string {
  if (bound === "Maximum") return `the maximum weight is ${ceiling}`;
  if (bound === "Minimum" || !window) return `the minimum weight is ${floor}`;
  return `the minimum weight from ${window.startTime} to ${window.endTime} is ${floor}`;
}
