import { EVICTION_PLANNER, type EvictionPlannerStatus } from "@evenkeel/api";
import type { StoredObject } from "@evenkeel/kube";
import { resourceTypeOf } from "@evenkeel/operator";

/** A EvictionPlanner as the API server stores it. */
export type StoredEvictionPlanner = StoredObject<EvictionPlannerStatus>;

export const evictionPlanners = resourceTypeOf<StoredEvictionPlanner>(EVICTION_PLANNER);
