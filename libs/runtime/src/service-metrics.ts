import { gauge, perObject } from "@evenkeel/metrics";

/** Metrics that every service has besides its own and those of its decisions. */
export const serviceMetrics = {
  build: gauge("evenkeel_build_info", "Always 1; the labels say what runs.", {
    service: perObject,
    version: perObject,
  }),
};
