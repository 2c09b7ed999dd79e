import { operatorSettings } from "@evenkeel/operator";
import { setting } from "@evenkeel/runtime";

/** Every flag and environment variable of eviction-planner. */
export const settings = {
  ...operatorSettings({ kind: "EvictionPlanners", workers: 16 }),
  interval: setting.duration({ default: "30s", help: "Time between two reconciles of an object that does not change" }),
};
