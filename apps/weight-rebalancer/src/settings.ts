import { runtimeSettings, setting } from "@evenkeel/runtime";

/** Every flag and environment variable of weight-rebalancer. */
export const settings = {
  ...runtimeSettings,
  interval: setting.duration({ default: "30s", help: "Time between two looks at the world" }),
};
