import { counter, gauge, histogram, oneOf, perObject } from "@evenkeel/metrics";
import { gatewayMetrics } from "./gateway/gateway-metrics.ts";

const object = { namespace: perObject, name: perObject };

/** A gauge of each ClusterScore. A former leader no longer exports it. */
const ofMember = (name: string, help: string) => gauge(name, help, object, { leaderOnly: true });

/** Every metric of endpoint-proxy. */
export const metrics = {
  ...gatewayMetrics,
  score: ofMember("endpoint_proxy_score", "The cluster's score; absent while it is unknown."),
  age: ofMember("endpoint_proxy_score_age_seconds", "Age of the cluster's score; absent while it has no score."),
  ready: ofMember("endpoint_proxy_member_ready", "1 if replicas may be placed in the cluster, 0 if not."),
  freeCpu: ofMember("endpoint_proxy_free_cpu_cores", "CPU that is not requested; absent while it is unknown."),
  freeMemory: ofMember("endpoint_proxy_free_memory_bytes", "Memory that is not requested; absent while it is unknown."),
  failedNodes: ofMember("endpoint_proxy_failed_nodes", "Nodes of the cluster that have no predicted watts."),
  latency: ofMember("endpoint_proxy_peer_latency_seconds", "Time in which the peer last answered."),
  nodeFaults: counter("endpoint_proxy_node_faults_total", "Nodes that were left out of a score, by what was missing.", {
    fault: oneOf("usage", "stale", "inlet_temp", "delta_p", "node_config", "predictor"),
  }),
  predictions: histogram(
    "endpoint_proxy_prediction_seconds",
    "Duration of requests to WAO's predictors. Remembered answers are not counted.",
    { result: oneOf("ok", "fault") },
    [0.005, 0.01, 0.05, 0.1, 0.5, 1, 3],
  ),
};
