import { isIP } from "node:net";
import { operatorSettings, originalLeaseSetting } from "@evenkeel/operator";
import { type Kind, setting } from "@evenkeel/runtime";

/**
 * An EndpointSlice cannot contain an endpoint without an IP address, so requests to sleeping services would be lost.
 */
const addresses: Kind<readonly string[]> = {
  name: "list",
  takes: "an IP address such as 10.0.0.7, or several separated by commas",
  parse: (text) => {
    const parts = text.split(",").map((part) => part.trim());
    return parts.every((part) => isIP(part) !== 0) ? parts : undefined;
  },
};

const { watchNamespaces, ...common } = operatorSettings({ kind: "ElastiServices", workers: 32 });

/** Every flag and environment variable of scale-resolver. */
export const settings = {
  ...common,
  ...originalLeaseSetting("acf50383.truefoundry.io", "KubeElasti's operator"),
  leaseNamespace: setting.text({
    default: "default",
    env: ["POD_NAMESPACE"],
    help: "Namespace of the Lease and of --resolver-service",
  }),
  watchNamespaces: { ...watchNamespaces, env: ["WATCH_NAMESPACES"] },
  port: setting.integer(
    0,
    65_535,
  )({
    default: "8012",
    env: ["ELASTI_RESOLVER_PROXY_PORT"],
    help: "Port for requests whose Service is named by a header (see --host-headers)",
  }),
  portRange: setting.text({
    default: "20000-20999",
    help: "Ports of the resolver that are assigned to Services, one for each Service port; the same on all replicas",
  }),
  podName: setting.text({
    optional: true,
    env: ["POD_NAME"],
    help: "Name of this replica, unique among the replicas; the host name unless set",
  }),
  podIp: {
    ...setting.list({
      default: "127.0.0.1",
      env: ["POD_IPS", "POD_IP"],
      help: "IP addresses of this replica, used if --resolver-service is not set",
    }),
    kind: addresses,
  },
  resolverService: setting.text({
    optional: true,
    env: ["ELASTI_RESOLVER_SERVICE_NAME"],
    help: "Service of the replicas of this program; its ready endpoints receive redirected requests. Unless set, --pod-ip does",
  }),
  resolverGrpcPort: setting.integer(
    1,
    65_535,
  )({
    optional: true,
    help: "gRPC port of --resolver-service, which KEDA connects to; --grpc-port unless set",
  }),
  hostHeaders: setting.list({
    default: "X-Evenkeel-Service,X-Envoy-Decorator-Operation,Host",
    env: ["HEADER_FOR_HOST"],
    help: "Headers that name the Service of a request to --port as name.namespace with any suffix; the first match is used",
  }),
  triggerInterval: setting.interval({
    default: "30s",
    env: ["POLLING_INTERVAL"],
    help: "How often the triggers of a service are evaluated",
  }),
  settle: setting.duration({
    default: "2s",
    help: "Time that nodes need to follow EndpointSlices: the minimum for which requests stay redirected to the resolver, and before it verifies the path",
  }),
  pathProbe: setting.boolean({
    default: "true",
    help: "Verify with a request through the Service that it reaches the resolver before a workload is scaled to 0",
  }),
  pathTargetRef: setting.boolean({
    optional: true,
    help: "Name the pod of the resolver in its endpoints. Istio sidecars need it for mTLS; Istio ambient then ignores the endpoints. Unless set, it is false for namespaces with the label istio.io/dataplane-mode=ambient and without sidecars, and true for others",
  }),
  standby: setting.boolean({
    optional: true,
    help: "Be an endpoint of each Service also while its pods are ready, marked as terminating: kube-proxy uses it in the moment in which no pod is ready. Unless set, it is true in clusters without Cilium",
  }),
  prometheusAddress: setting.url({
    optional: true,
    help: "Prometheus server of triggers without serverAddress",
  }),
  maxPending: setting.integer(
    1,
    1_000_000,
  )({ default: "15000", help: "Maximum number of waiting requests, of all Services together" }),
  maxPendingBytes: setting.bytes({
    default: "512Mi",
    help: "Maximum size of waiting requests, of all Services together",
  }),
  uploadProbe: setting.duration({
    default: "450ms",
    help: "How often a waiting HTTP/1.1 upload that no proxy forwarded gets 100 Continue, which detects clients that disconnected; 0s disables it",
  }),
  kedaAuthentication: setting.text({
    optional: true,
    help: "ClusterTriggerAuthentication for ScaledObjects that this program creates",
  }),
  warmUp: setting.duration({
    default: "3s",
    help: "Maximum time before readiness for requests to itself, which make the first burst as fast as later ones",
  }),
};
