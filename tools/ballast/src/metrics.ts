import { counter, gauge, oneOf } from "@evenkeel/metrics";

/** Every metric of ballast. */
export const metrics = {
  level: gauge("ballast_level", "The tank's last level; absent while it is unknown.", {}),
  pumped: counter("ballast_pumped_total", "Levels pumped, by direction.", { direction: oneOf("in", "out") }),
};
