import { counter, gauge, oneOf, upTo } from "@evenkeel/metrics";

const reflector = upTo(50);

/** Metrics of reflectors, by name. A service registers the table once and passes it to each reflector. */
export const reflectorMetrics = {
  requests: counter("reflector_requests_total", "Lists and watches that were started.", {
    reflector,
    request: oneOf("list", "watch"),
  }),
  failures: counter("reflector_failures_total", "Lists and watches that ended with an error.", { reflector }),
  objects: gauge("reflector_objects", "Objects in the store after the last list.", { reflector }),
};
