import { operatorSettings, originalLeaseSetting } from "@evenkeel/operator";
import { setting } from "@evenkeel/runtime";
import { usageSettings } from "./observe/usage/usage-settings.ts";

/** A flag of controller-runtime's logger. It is accepted, so that the original's command line still starts. */
const ofOriginalLog = (what: string) => `${what} of the original's log; has no effect, see --log-level`;
const zap = (what: string) => setting.text({ optional: true, help: ofOriginalLog(what) });

/** Every flag and environment variable of eviction-planner. */
export const settings = {
  ...operatorSettings({ kind: "RebalancePolicies", workers: 4 }),
  ...originalLeaseSetting("rebalancer-operator", "the original rebalancer-operator"),
  deschedulerLease: setting.text({
    default: "descheduler",
    help: "Name of the Lease by which descheduler leads; while it is renewed, the condition DeschedulerRuns is True",
  }),
  ...usageSettings,
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
  watchNamespaces: setting.list({
    optional: true,
    help: "Namespaces whose pods may be evicted; all unless set. All namespaces are observed",
  }),
  syncPeriod: setting.duration({ default: "30s", help: "Time between two plans of a policy" }),
  planTtl: setting.duration({ default: "1m", help: "Time after which the rest of a plan is dropped" }),
  drainPeers: setting.list({
    default: "",
    help: "Services that are asked before a pod is evicted: host:port of each one's gRPC port",
  }),
  allowSurge: setting.boolean({
    default: "false",
    help: "Restart the rollout of a Deployment to move its only pod, where a WorkloadSLO has singleReplica: surge",
  }),
  emptydirThresholdGi: setting.integer(
    -1_000_000,
    1_000_000,
  )({ default: "2", help: "GiB of emptyDir volumes above which a pod is not evicted; 0 or less means 2" }),
  zapDevel: setting.boolean({ optional: true, help: ofOriginalLog("Development mode") }),
  zapEncoder: zap("Encoding"),
  zapLogLevel: zap("Level"),
  zapStacktraceLevel: zap("Level of stack traces"),
  zapTimeEncoding: zap("Time format"),
};
