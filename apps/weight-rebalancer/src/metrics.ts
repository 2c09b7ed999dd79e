import { gauge } from "@evenkeel/metrics";

/** Every metric of weight-rebalancer. */
export const metrics = {
  lastLook: gauge("weight_rebalancer_last_look_timestamp_seconds", "When the world was last looked at.", {}),
};
