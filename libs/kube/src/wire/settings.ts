import { setting } from "@evenkeel/runtime";

/**
 * Settings of the connection to the API server, for a service's table: `{ ...runtimeSettings, ...kubeSettings, … }`.
 */
export const kubeSettings = {
  kubeconfig: setting.text({
    optional: true,
    env: ["KUBECONFIG"],
    help: "Kubeconfig file, or several as in KUBECONFIG; default the pod's service account, else ~/.kube/config",
  }),
  kubeContext: setting.text({ optional: true, help: "Context of the kubeconfig; default its current-context" }),
  kubeDeadline: setting.duration({
    default: "30s",
    help: "Maximum time of a call to the API server, retries included; does not apply to watches",
  }),
  kubeConnections: setting.integer(
    1,
    1000,
  )({ default: "4", help: "Maximum connections to the API server, not counting watches" }),
  kubeQps: setting.integer(
    0,
    100_000,
  )({
    default: "0",
    help: "Maximum requests per second to the API server; 0 leaves the limit to its priority and fairness",
  }),
  kubeBurst: setting.integer(1, 100_000)({ default: "100", help: "Requests by which a burst may exceed --kube-qps" }),
};
