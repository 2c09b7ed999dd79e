import { expect, test } from "@jest/globals";
import { referenceOf } from "./reference.ts";
import { deployments, nodes, pods } from "./resource-types.ts";

const metadata = { namespace: "shop", name: "web", uid: "1" };

test("refers to an object by the type's group, version and kind", () => {
  const reference = { namespace: "shop", name: "web", uid: "1" };
  expect(referenceOf(deployments, { metadata })).toEqual({ apiVersion: "apps/v1", kind: "Deployment", ...reference });
  expect(referenceOf(pods, { metadata })).toEqual({ apiVersion: "v1", kind: "Pod", ...reference });
});

test("leaves the namespace out of the reference to a cluster-scoped object", () => {
  const reference = { apiVersion: "v1", kind: "Node", name: "n1", uid: "2" };
  expect(referenceOf(nodes, { metadata: { name: "n1", uid: "2" } })).toEqual(reference);
});

test("has no reference to an object that is not found", () => {
  expect(referenceOf(pods, undefined)).toBeUndefined();
});
