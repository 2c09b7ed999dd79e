import { dashboardSettings } from "@evenkeel/dashboard";
import { kubeSettings, leaseSettings } from "@evenkeel/kube";
import { rpcSettings } from "@evenkeel/rpc";
import { runtimeSettings, setting } from "@evenkeel/runtime";
import { stateSettings } from "@evenkeel/state";

/** Every flag and environment variable of weight-rebalancer. */
export const settings = {
  ...runtimeSettings,
  ...kubeSettings,
  ...leaseSettings,
  ...stateSettings,
  ...rpcSettings,
  ...dashboardSettings,
  leaderElect: setting.boolean({
    default: "true",
    help: "Act only while holding the Lease; false is for one replica that is the only one",
  }),
  leaseNamespace: setting.text({
    default: "default",
    env: ["POD_NAMESPACE"],
    help: "Namespace of the Lease",
  }),
  watchNamespaces: setting.list({
    optional: true,
    help: "Namespaces whose Rebalances are looked after; all unless set",
  }),
  allowCrossNamespaceSecrets: setting.boolean({
    default: "false",
    help: "Let a Rebalance name Secrets of other namespaces than its own",
  }),
  workers: setting.integer(
    1,
    10_000,
  )({
    default: "2000",
    help: "Rebalances that are worked on at once; most of the time of each is waiting for its metric",
  }),
  route53Rate: setting.integer(1, 10)({ default: "5", help: "Requests a second to Route 53, for each account" }),
  route53BatchWindow: setting.duration({
    default: "2s",
    help: "How long changes of a zone are gathered before they are sent as one",
  }),
  originalLease: setting.text({
    default: "e7eaa5de.ch1aki.github.io",
    help: "Name of the Lease by which the original rebalancer leads; while one is live, nothing is written",
  }),
};
