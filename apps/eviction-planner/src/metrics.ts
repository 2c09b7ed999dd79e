import { gauge, perObject } from "@evenkeel/metrics";

/** Every metric of eviction-planner. */
export const metrics = {
  level: gauge(
    "eviction_planner_level",
    "The level that was last read; absent while it is unknown.",
    { namespace: perObject, name: perObject },
    { leaderOnly: true },
  ),
};
