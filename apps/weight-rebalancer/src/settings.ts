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
    help: "Act only while this replica holds the Lease; set false only for a single replica",
  }),
  leaseNamespace: setting.text({
    default: "default",
    env: ["POD_NAMESPACE"],
    help: "Namespace of the Lease",
  }),
  watchNamespaces: setting.list({
    optional: true,
    help: "Namespaces whose Rebalances are managed; all unless set",
  }),
  allowCrossNamespaceSecrets: setting.boolean({
    default: "false",
    help: "Allow a Rebalance to use Secrets of other namespaces",
  }),
  workers: setting.integer(
    1,
    10_000,
  )({
    default: "2000",
    help: "Rebalances that are reconciled at the same time; each mostly waits for its metric",
  }),
  route53Rate: setting.integer(1, 10)({ default: "5", help: "Requests per second to Route 53, for each AWS account" }),
  route53BatchWindow: setting.duration({
    default: "2s",
    help: "How long changes of a zone are collected before they are sent as one batch",
  }),
  originalLease: setting.text({
    default: "e7eaa5de.ch1aki.github.io",
    help: "Name of the leader election Lease of the original rebalancer; while it is renewed, nothing is written",
  }),
};
