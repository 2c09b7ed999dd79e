import { expect, test } from "@jest/globals";
import { kinds } from "./kinds.ts";

test("the kinds of the originals have the names that their users know", () => {
  expect(
    kinds.map(({ group, version, kind, plural, singular, shortNames, scope }) => [
      `${plural}.${group}/${version}`,
      kind,
      singular,
      shortNames,
      scope,
    ]),
  ).toEqual(
    expect.arrayContaining([
      ["rebalances.rebalancer.ch1aki.github.io/v1", "Rebalance", "rebalance", [], "Namespaced"],
      ["clusterscores.waoendpointproxy.bitmedia.co.jp/v1beta1", "ClusterScore", "clusterscore", [], "Namespaced"],
      ["rebalancepolicies.rebalancer.dev/v1", "RebalancePolicy", "rebalancepolicy", ["rbpol"], "Cluster"],
      ["workloadsloes.rebalancer.dev/v1", "WorkloadSLO", "workloadslo", [], "Namespaced"],
      ["nodeclasses.rebalancer.dev/v1", "NodeClass", "nodeclass", [], "Cluster"],
      ["collectorloadbalancers.otel.k8s.aws/v1", "CollectorLoadBalancer", "collectorloadbalancer", [], "Namespaced"],
      ["elastiservices.elasti.truefoundry.com/v1alpha1", "ElastiService", "elastiservice", [], "Namespaced"],
    ]),
  );
});
