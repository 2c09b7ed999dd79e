import { expect, test } from "@jest/globals";
import { CLUSTER_SCORE, COLLECTOR_LOAD_BALANCER, REBALANCE, REBALANCE_POLICY } from "@evenkeel/api";
import { customResourceDefinition, openApiSchema } from "./crd.ts";

test("a kind's CRD has its names, columns and subresources", () => {
  expect(customResourceDefinition(CLUSTER_SCORE)).toEqual({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "clusterscores.waoendpointproxy.bitmedia.co.jp" },
    spec: {
      group: "waoendpointproxy.bitmedia.co.jp",
      names: { kind: "ClusterScore", listKind: "ClusterScoreList", plural: "clusterscores", singular: "clusterscore" },
      scope: "Namespaced",
      versions: [
        {
          name: "v1beta1",
          served: true,
          storage: true,
          additionalPrinterColumns: [
            { name: "Region", type: "string", jsonPath: ".spec.region" },
            { name: "Score", type: "integer", jsonPath: ".status.score" },
            { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
          ],
          subresources: { status: {} },
          schema: { openAPIV3Schema: openApiSchema(CLUSTER_SCORE) },
        },
      ],
    },
  });
});

test("short names and the scale subresource are written where the kind has them", () => {
  expect(customResourceDefinition(REBALANCE_POLICY)).toMatchObject({ spec: { names: { shortNames: ["rbpol"] } } });
  const scale = {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  };
  expect(customResourceDefinition(COLLECTOR_LOAD_BALANCER)).toMatchObject({
    spec: { versions: [{ subresources: { scale } }] },
  });
});

test("an object without a spec is stored as it is", () => {
  const schema = openApiSchema(REBALANCE_POLICY);
  expect(schema.required).toBeUndefined();
  expect(schema.properties?.["spec"]).not.toHaveProperty("default");
});

test("rules of the schema reach the CRD as CEL", () => {
  expect(openApiSchema(REBALANCE).properties?.["spec"]?.properties?.["target"]).toMatchObject({
    "x-kubernetes-validations": [
      {
        rule: "[has(self.route53), has(self.httpRoute)].exists_one(set, set)",
        message: "exactly one of route53, httpRoute must be set",
      },
    ],
  });
});
