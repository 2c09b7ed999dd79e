import type { KubeObject } from "@evenkeel/kube";
import { expect, test } from "@jest/globals";
import { foreignObject } from "./foreign-object.ts";

const owner = { apiVersion: "otel.k8s.aws/v1", kind: "CollectorLoadBalancer", metadata: { name: "a", uid: "1" } };
const labels = {
  "app.kubernetes.io/managed-by": "collector-load-balancer",
  "app.kubernetes.io/instance": "default__a",
};
const wanted = { kind: "ConfigMap", metadata: { namespace: "default", name: "a-collector", labels } };
const controlledBy = (uid: string, kind = "CollectorLoadBalancer") => ({
  ownerReferences: [{ apiVersion: "v1", kind, name: "a", uid, controller: true }],
});

test.each([
  ["one that this object controls", controlledBy("1"), false],
  ["one that the original made and nobody controls", { labels: { ...labels, more: "x" } }, false],
  ["one that a former object of the same name controls", { ...controlledBy("2"), labels }, true],
  ["one that something else controls", { ...controlledBy("3", "Deployment"), labels }, true],
  ["one without labels", {}, true],
  ["one of another instance", { labels: { ...labels, "app.kubernetes.io/instance": "default__b" } }, true],
] as const)("%s", (_, metadata, isForeign) => {
  const existing: KubeObject = { kind: "ConfigMap", metadata: { name: "a-collector", ...metadata } };
  expect(foreignObject(existing, wanted, owner)?.object).toBe(isForeign ? "ConfigMap default/a-collector" : undefined);
});
