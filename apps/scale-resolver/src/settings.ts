import { isIP } from "node:net";
import { dashboardSettings } from "@evenkeel/dashboard";
import { kubeSettings, leaseSettings } from "@evenkeel/kube";
import { rpcSettings } from "@evenkeel/rpc";
import { durationKind, type Kind, runtimeSettings, setting } from "@evenkeel/runtime";
import { stateSettings } from "@evenkeel/state";

/** A pause between two rounds, in milliseconds. KubeElasti's chart writes its own as a bare number, which means seconds. */
const pause: Kind<number> = {
  name: "duration",
  takes: "a duration above 0 such as 250ms, 30s or 1h30m, or a number of seconds",
  parse: (text) => {
    const milliseconds = durationKind.parse(/^\d+$/.test(text) ? `${text}s` : text);
    return milliseconds === 0 ? undefined : milliseconds;
  },
};

/** An endpoint that is no address would be left out of paths, and with it the only way to services at zero. */
const addresses: Kind<readonly string[]> = {
  name: "list",
  takes: "an IP address such as 10.0.0.7, or several with commas",
  parse: (text) => {
    const parts = text.split(",").map((part) => part.trim());
    return parts.every((part) => isIP(part) !== 0) ? parts : undefined;
  },
};

/** Every flag and environment variable of scale-resolver. */
export const settings = {
  ...runtimeSettings,
  ...kubeSettings,
  ...leaseSettings,
  ...stateSettings,
  ...rpcSettings,
  ...dashboardSettings,
  leaderElect: setting.boolean({
    default: "true",
    help: "Switch and scale to zero only while holding the Lease; false is for one replica that is the only one",
  }),
  leaseNamespace: setting.text({
    default: "default",
    env: ["POD_NAMESPACE"],
    help: "Namespace of the Lease, and of the resolver's own Service",
  }),
  watchNamespaces: setting.list({
    optional: true,
    env: ["WATCH_NAMESPACES"],
    help: "Namespaces whose ElastiServices are looked after; all unless set",
  }),
  port: setting.integer(
    0,
    65_535,
  )({
    default: "8012",
    env: ["ELASTI_RESOLVER_PROXY_PORT"],
    help: "Port for requests whose Service is told from their headers",
  }),
  portRange: setting.text({
    default: "20000-20999",
    help: "Ports that are given to Services, one for each of their ports; the same on all replicas",
  }),
  podName: setting.text({
    optional: true,
    env: ["POD_NAME"],
    help: "Name of this replica, as no other is named; the host's unless set",
  }),
  podIp: {
    ...setting.list({
      default: "127.0.0.1",
      env: ["POD_IPS", "POD_IP"],
      help: "Addresses under which this replica is reached, where --resolver-service does not name any",
    }),
    kind: addresses,
  },
  resolverService: setting.text({
    optional: true,
    env: ["ELASTI_RESOLVER_SERVICE_NAME"],
    help: "Service before the replicas of this program, whose ready endpoints join the path; --pod-ip unless set",
  }),
  hostHeaders: setting.list({
    default: "X-Evenkeel-Service,X-Envoy-Decorator-Operation,Host",
    env: ["HEADER_FOR_HOST"],
    help: "Headers that name the Service (name.namespace and whatever follows) of a request that comes to --port, in this order",
  }),
  triggerInterval: {
    ...setting.duration({
      default: "30s",
      env: ["POLLING_INTERVAL"],
      help: "How often triggers are asked whether a Service is idle",
    }),
    kind: pause,
  },
  settle: setting.duration({
    default: "2s",
    help: "How long the resolver stays in the path of a Service at least",
  }),
  pathProbe: setting.boolean({
    default: "true",
    help: "Prove with a request through the Service that the resolver is in its path before anything is put to sleep",
  }),
  prometheusAddress: setting.url({
    optional: true,
    help: "Prometheus of triggers that name no serverAddress",
  }),
  maxPending: setting.integer(
    1,
    1_000_000,
  )({ default: "15000", help: "Requests that may wait, of all Services together" }),
  maxPendingBytes: setting.bytes({ default: "512Mi", help: "Bytes that may wait, of all Services together" }),
  uploadProbe: setting.duration({
    default: "450ms",
    help: "How often an HTTP/1.1 upload that waits, and came by no proxy, gets 100 Continue, by which a client that left is noticed; 0s for none",
  }),
  kedaAuthentication: setting.text({
    optional: true,
    help: "ClusterTriggerAuthentication by which KEDA trusts this program, for ScaledObjects that it makes",
  }),
  originalLease: setting.text({
    default: "acf50383.truefoundry.io",
    help: "Name of the Lease by which KubeElasti's operator leads; while one is live, nothing is switched or scaled",
  }),
  warmUp: setting.duration({
    default: "3s",
    help: "How long requests to itself may keep this replica from being ready, so that the first burst is as quick as later ones",
  }),
  workers: setting.integer(1, 1000)({ default: "32", help: "ElastiServices that are worked on at once" }),
};
