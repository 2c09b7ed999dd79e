import { operatorSettings, originalLeaseSetting } from "@evenkeel/operator";
import { setting } from "@evenkeel/runtime";

/** Every flag and environment variable of weight-rebalancer. */
export const settings = {
  ...operatorSettings({ kind: "Rebalances", workers: 2000 }),
  ...originalLeaseSetting("e7eaa5de.ch1aki.github.io", "the original rebalancer"),
  allowCrossNamespaceSecrets: setting.boolean({
    default: "false",
    help: "Allow a Rebalance to use Secrets of other namespaces",
  }),
  allowAmbientCredentials: setting.list({
    optional: true,
    help: "Namespaces whose Rebalances may use the AWS identity of this pod; none if empty or not set",
  }),
  prometheusAllow: setting.list({
    optional: true,
    help: "Metric servers that may be queried: host names, *.domain, addresses, CIDRs, each for one namespace with namespace/ before it; all if empty or not set. Link-local addresses are always denied",
  }),
  route53Rate: setting.integer(
    1,
    10,
  )({
    default: "5",
    help: "Requests per second to Route 53, for each access key, and for each account with assumed roles",
  }),
  route53BatchWindow: setting.duration({
    default: "2s",
    help: "How long changes of a zone are collected before they are sent as one batch",
  }),
};
