import { judge, type Nulled, setConditions } from "@evenkeel/kube";
import type { EvictionPlannerStatus } from "@evenkeel/api";
import type { StoredEvictionPlanner } from "../eviction-planner-resource.ts";

/** What a reconcile found: the level, whether it is as wanted, and why. */
export interface Finding {
  readonly level: number | null;
  readonly ready: boolean | undefined;
  readonly reason: string;
  readonly message: string;
}

/** The status after a reconcile; the present one if nothing in it changes. */
export function statusAfter(
  { metadata, status = {} }: StoredEvictionPlanner,
  { level, ready, reason, message }: Finding,
  now: number,
): Nulled<EvictionPlannerStatus> {
  const judged = judge("Ready", ready, reason, message, metadata.generation ?? 0);
  const conditions = setConditions(status.conditions ?? [], [judged], now);
  return conditions === status.conditions && level === (status.level ?? null) ? status : { level, conditions };
}
