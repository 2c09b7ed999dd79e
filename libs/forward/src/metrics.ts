import { counter, gauge, histogram, type Metrics, oneOf } from "@evenkeel/metrics";

const protocol = oneOf("http1", "h2", "tcp");

/** No label names a listener or an origin. A service counts by its own objects when an exchange is settled. */
export const forwardMetrics = {
  requests: counter("evenkeel_forward_requests_total", "Exchanges that ended, by protocol of the client and answer.", {
    protocol,
    answer: oneOf("2xx", "3xx", "4xx", "5xx", "tunnel", "left", "broken"),
  }),
  duration: histogram(
    "evenkeel_forward_request_seconds",
    "From the head of a request to the end of its answer; tunnels are not counted.",
    { protocol },
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  ),
  open: gauge("evenkeel_forward_open", "What is open now.", {
    kind: oneOf("exchange", "tunnel", "client", "upstream"),
  }),
  failures: counter("evenkeel_forward_failures_total", "Tries that got no answer.", {
    kind: oneOf("connect", "reset", "deadline", "protocol"),
  }),
  retries: counter("evenkeel_forward_retries_total", "Tries after the first one of a request.", {}),
  connectionsRefused: counter(
    "evenkeel_forward_connections_refused_total",
    "Connections that were closed at once, because too many were open: in total, or of the listener's group (share).",
    { limit: oneOf("total", "share") },
  ),
  malformed: counter("evenkeel_forward_malformed_total", "Requests that were refused for their shape.", {}),
};

export type ForwardMetrics = Metrics<typeof forwardMetrics>;
