import { operatorSettings, originalLeaseSetting } from "@evenkeel/operator";
import { setting } from "@evenkeel/runtime";

/** Every flag and environment variable of collector-scheduler. */
export const settings = {
  ...operatorSettings({ kind: "CollectorLoadBalancers", workers: 4 }),
  ...originalLeaseSetting("1a1a21bb.k8s.aws", "the original collector-load-balancer"),
  adminPort: setting.bindPort({
    default: "8080",
    aliases: ["metrics-bind-address"],
    help: "Port of metrics, the dashboard and the JSON API",
  }),
  healthPort: setting.bindPort({
    default: "8081",
    aliases: ["health-probe-bind-address"],
    help: "Port of /healthz, /livez and /readyz",
  }),
  targetPort: setting.port({ default: "8082", help: "Port on which collectors ask for their jobs and targets" }),
  targetUrl: setting.text({
    optional: true,
    help: "URL by which collectors reach --target-port; the chart's Service in --lease-namespace unless set",
  }),
  discoveryFiles: setting.text({
    optional: true,
    help: "Folder below which a CollectorLoadBalancer may name files for discovery; none may unless set",
  }),
  discoveryScope: setting.choice(
    "all",
    "own",
  )({
    default: "all",
    help: "Namespaces in which kubernetes_sd looks: all, or only that of the CollectorLoadBalancer",
  }),
  maxTargets: setting.integer(
    1,
    10_000_000,
  )({
    default: "200000",
    help: "Targets of one CollectorLoadBalancer at most; further groups are held back and reported",
  }),
  interval: setting.duration({ default: "10s", help: "Time between two reconciles of an object that does not change" }),
};
