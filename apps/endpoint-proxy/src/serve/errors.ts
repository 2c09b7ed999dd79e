import { defineError } from "@evenkeel/runtime";

export const PlacementUnknown = defineError({
  code: "EK_PROXY_PLACEMENT_UNKNOWN",
  recovery: "retryable",
  message: "{method}: where the replicas are is unknown: {fault}",
  remedy:
    "A cluster did not answer or refused. The chart grants the group evenkeel:endpoint-proxies the right to get and list " +
    "Deployments and StatefulSets: upgrade endpoint-proxy in that cluster, or grant it there.",
});

export const NoSuchWorkload = defineError({
  code: "EK_PROXY_NO_SUCH_WORKLOAD",
  recovery: "terminal",
  message: "{fault}",
  remedy: "Check kind, namespace and name, as in Deployment/shop/web. To preview a new workload, send its manifest.",
});
