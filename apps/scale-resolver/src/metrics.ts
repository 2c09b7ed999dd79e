import { counter, gauge, histogram, oneOf, perObject } from "@evenkeel/metrics";
import { STATES } from "./decide/state.ts";

const service = { namespace: perObject, service: perObject };
/** As the original names a Service. */
const source = { namespace: perObject, source: perObject };
const inherited = { inherited: true };

/** Every metric of scale-resolver. Those that begin with `elasti_` are the original's, with labels that are bounded. */
export const metrics = {
  state: gauge(
    "evenkeel_resolver_state",
    "1 for the state that a Service is in, 0 for the others.",
    {
      ...service,
      state: oneOf(...STATES),
    },
    { leaderOnly: true },
  ),
  pending: gauge("evenkeel_resolver_pending", "Requests that wait for a pod, in this process.", service),
  inFlight: gauge("evenkeel_resolver_in_flight", "Requests on their way to a pod and back, in this process.", service),
  requests: counter(
    "evenkeel_resolver_requests_total",
    "Requests that came to the resolver. None come in Serve.",
    service,
  ),
  held: histogram(
    "evenkeel_resolver_held_seconds",
    "How long requests waited that were held.",
    service,
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  ),
  rejected: counter("evenkeel_resolver_rejected_total", "Requests that were not forwarded, by reason.", {
    ...service,
    reason: oneOf("overflowCount", "overflowBytes", "deadline", "clientGone", "drained", "descriptors"),
  }),
  unboundPorts: gauge(
    "evenkeel_resolver_unbound_ports",
    "Ports that were given to a Service and on which this process cannot listen.",
    service,
  ),
  wakes: counter("evenkeel_resolver_wakes_total", "Times that a workload was scaled up for requests.", service),
  wakeSeconds: histogram(
    "evenkeel_resolver_wake_seconds",
    "How long a wake took: the scale call, from there to a ready pod, from there to the first answer.",
    { ...service, phase: oneOf("scale", "start", "connect") },
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  ),
  queuedCount: gauge("elasti_resolver_queued_count", "Requests that wait for a pod.", source),
  incomingRequests: histogram(
    "elasti_resolver_incoming_requests",
    "How long requests took that passed the resolver.",
    { ...source, status: oneOf("1xx", "2xx", "3xx", "4xx", "5xx", "none") },
    [0.1, 0.5, 1, 2, 5, 10],
  ),
  hostExtraction: counter(
    "elasti_resolver_host_extraction_count",
    "Requests to the port for all Services, by how their Service was found.",
    {
      extractionType: oneOf("port", "header", "none"),
    },
    inherited,
  ),
  trafficSwitches: counter(
    "elasti_resolver_traffic_switch_count",
    "Times that the resolver joined or left a path.",
    {
      ...source,
      enabled: oneOf("true", "false"),
    },
    inherited,
  ),
  operatorCalls: counter(
    "elasti_resolver_operator_rpc_count",
    "Calls that scaled a workload up for requests.",
    {
      error: oneOf("", "failed"),
    },
    inherited,
  ),
  mode: gauge(
    "elasti_operator_mode",
    "1 while requests pass the resolver, 0 while they do not.",
    {
      namespace: perObject,
      crd_name: perObject,
    },
    { leaderOnly: true },
  ),
};
