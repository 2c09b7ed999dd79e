import { counter, histogram, oneOf, upTo } from "@evenkeel/metrics";

/** The verb of a call, in metrics and messages. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "apply" | "delete" | "evict" | "other";

const verb = oneOf<Verb>("get", "list", "watch", "create", "update", "patch", "apply", "delete", "evict", "other");

/** Metrics of the client. `code` is the HTTP status, or `error` if there was no response. */
export const kubeMetrics = {
  requests: counter("rest_client_requests_total", "Requests to the API server, retries included.", {
    verb,
    code: upTo(40),
  }),
  duration: histogram(
    "rest_client_request_duration_seconds",
    "Time of one request to the API server, until its response starts.",
    { verb },
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  ),
  throttled: histogram(
    "rest_client_rate_limiter_duration_seconds",
    "Time that a request waited for the rate limit of this process.",
    { verb },
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  ),
  retries: counter("rest_client_request_retries_total", "Requests to the API server that were retried.", {
    verb,
    code: upTo(40),
  }),
};
