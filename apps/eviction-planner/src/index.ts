export { evictionPlanner } from "./definition.ts";
export { type StoredEvictionPlanner, evictionPlanners } from "./eviction-planner-resource.ts";
