import { openWindow } from "./schedule.ts";
import type { ScheduledWindow, WeightSnapshot } from "./snapshot.ts";

/** Between which weights the decision is free. */
export interface Bounds {
  readonly floor: number;
  readonly ceiling: number;
  /** The window that raises the floor above the minimum; undefined while none does. */
  readonly window: ScheduledWindow | undefined;
}

export type Bound = "Schedule" | "Minimum" | "Maximum";

/**
 * The floor is the greatest of the policy's minimum and the windows that are open, the ceiling the policy's maximum or the most that
 * any target takes. Where they contradict each other, the ceiling wins. Each target's own range comes on top.
 */
export function boundsOf({ at, policy, targets }: WeightSnapshot): Bounds {
  const open = openWindow(policy.scheduled, policy.timeZone, Date.parse(at));
  const window = open && open.value > policy.minimum ? open : undefined;
  const least = Math.min(...targets.map(({ minimum }) => minimum));
  const most = Math.max(...targets.map(({ maximum }) => maximum));
  const ceiling = Math.min(policy.maximum ?? most, most);
  return { floor: Math.min(Math.max(policy.minimum, window?.value ?? 0, least), ceiling), ceiling, window };
}

/** `weight` held within the bounds, and which of them overruled it. */
export function bounded(weight: number, { floor, ceiling, window }: Bounds): { weight: number; bound: Bound | null } {
  if (weight > ceiling) return { weight: ceiling, bound: "Maximum" };
  if (weight < floor) return { weight: floor, bound: window ? "Schedule" : "Minimum" };
  return { weight, bound: null };
}

/** A clause that says what the bound is. */
export function boundText(bound: Bound, { floor, ceiling, window }: Bounds): string {
  if (bound === "Maximum") return `the greatest weight is ${ceiling}`;
  if (bound === "Minimum" || !window) return `the least weight is ${floor}`;
  return `the least weight from ${window.startTime} to ${window.endTime} is ${floor}`;
}
