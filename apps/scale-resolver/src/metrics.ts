import { counter, gauge, histogram, oneOf, perObject } from "@evenkeel/metrics";
import { STATES } from "./decide/state.ts";

const service = { namespace: perObject, service: perObject };
/** The original's labels for a Service. */
const source = { namespace: perObject, source: perObject };
const inherited = { inherited: true };

/** Every metric of scale-resolver. The names that begin with `elasti_` are the original's, with bounded labels. */
export const metrics = {
  state: gauge(
    "evenkeel_resolver_state",
    "1 for the current state of a Service, 0 for the others.",
    {
      ...service,
      state: oneOf(...STATES),
    },
    { leaderOnly: true },
  ),
  pending: gauge("evenkeel_resolver_pending", "Requests that wait for a pod, in this replica.", service),
  inFlight: gauge("evenkeel_resolver_in_flight", "Requests in flight to a pod, in this replica.", service),
  requests: counter(
    "evenkeel_resolver_requests_total",
    "Requests that reached the resolver. In state Serve, the Service sends none to it.",
    service,
  ),
  held: histogram(
    "evenkeel_resolver_held_seconds",
    "How long held requests waited.",
    service,
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  ),
  rejected: counter("evenkeel_resolver_rejected_total", "Requests that were not forwarded, by reason.", {
    ...service,
    reason: oneOf(
      ...(["overflowCount", "overflowBytes", "deadline", "clientGone"] as const),
      ...(["drained", "descriptors", "portAsleep", "protocol"] as const),
    ),
  }),
  unboundPorts: gauge(
    "evenkeel_resolver_unbound_ports",
    "Ports of a Service on which this replica could not listen.",
    service,
  ),
  wakes: counter("evenkeel_resolver_wakes_total", "Times a workload was scaled up because of requests.", service),
  wakeSeconds: histogram(
    "evenkeel_resolver_wake_seconds",
    "Duration of a wake by phase: the scale call, then until a pod is ready, then until the first answer.",
    { ...service, phase: oneOf("scale", "start", "connect") },
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  ),
  queuedCount: gauge("elasti_resolver_queued_count", "Requests that wait for a pod.", source),
  incomingRequests: histogram(
    "elasti_resolver_incoming_requests",
    "Duration of requests through the resolver.",
    { ...source, status: oneOf("1xx", "2xx", "3xx", "4xx", "5xx", "none") },
    [0.1, 0.5, 1, 2, 5, 10],
  ),
  hostExtraction: counter(
    "elasti_resolver_host_extraction_count",
    "Requests by how their Service was found.",
    {
      extractionType: oneOf("port", "header", "none"),
    },
    inherited,
  ),
  trafficSwitches: counter(
    "elasti_resolver_traffic_switch_count",
    "Times requests to a Service were redirected to the resolver or restored to its pods.",
    {
      ...source,
      enabled: oneOf("true", "false"),
    },
    inherited,
  ),
  operatorCalls: counter(
    "elasti_resolver_operator_rpc_count",
    "Calls that scaled a workload up because of requests.",
    {
      error: oneOf("", "failed"),
    },
    inherited,
  ),
  mode: gauge(
    "elasti_operator_mode",
    "1 while requests to a Service are redirected to the resolver, else 0.",
    {
      namespace: perObject,
      crd_name: perObject,
    },
    { leaderOnly: true },
  ),
};
