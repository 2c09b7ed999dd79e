import { counter, gauge, oneOf, upTo } from "@evenkeel/metrics";

const reflector = upTo(50);

/** What reflectors count, by their names. A service registers the table once and hands it to each. */
export const reflectorMetrics = {
  requests: counter("reflector_requests_total", "Lists and watches that were begun.", {
    reflector,
    request: oneOf("list", "watch"),
  }),
  failures: counter("reflector_failures_total", "Lists and watches that ended with an error.", { reflector }),
  objects: gauge("reflector_objects", "Objects in the store after the last list.", { reflector }),
};
