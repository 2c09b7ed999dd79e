import { setting } from "@evenkeel/runtime";

/** How a service reaches the API server. A service's table takes them in: `{ ...runtimeSettings, ...kubeSettings, … }`. */
export const kubeSettings = {
  kubeconfig: setting.text({
    optional: true,
    env: ["KUBECONFIG"],
    help: "Kubeconfig file, or several as in KUBECONFIG; in a pod its service account unless set, else ~/.kube/config",
  }),
  kubeContext: setting.text({ optional: true, help: "Context of the kubeconfig; its current one unless set" }),
  kubeDeadline: setting.duration({
    default: "30s",
    help: "How long a call to the API server may take, retries included; watches have no such limit",
  }),
  kubeConnections: setting.integer(
    1,
    1000,
  )({ default: "4", help: "Connections to the API server at once, without watches" }),
  kubeQps: setting.integer(
    0,
    100_000,
  )({
    default: "0",
    help: "Requests a second that this process may send; 0 leaves the limit to the server's priority and fairness",
  }),
  kubeBurst: setting.integer(1, 100_000)({ default: "100", help: "Requests that may exceed --kube-qps at once" }),
};
