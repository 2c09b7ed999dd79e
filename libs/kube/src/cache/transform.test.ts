import { expect, test } from "@jest/globals";
import type { KubeObject } from "../objects/object.ts";
import { dropManagedFields, keepOnly } from "./transform.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web",
    namespace: "shop",
    uid: "1",
    resourceVersion: "7",
    labels: { app: "web" },
    annotations: { note: "long" },
    managedFields: [{}],
  },
  spec: {
    nodeName: "a",
    containers: [
      { name: "one", image: "x", resources: { requests: { cpu: "1" } } },
      { name: "two", image: "y" },
    ],
  },
  status: { phase: "Running" },
};

test("keeps the named fields, through lists, and what identifies the object", () => {
  expect(keepOnly("metadata.labels", "spec.nodeName", "spec.containers.resources.requests")(pod)).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "shop", uid: "1", resourceVersion: "7", labels: { app: "web" } },
    spec: { nodeName: "a", containers: [{ resources: { requests: { cpu: "1" } } }, {}] },
  });
});

test("keeps all of a field when one path names it and another names a part", () => {
  const { status } = keepOnly<typeof pod>("status.phase", "status", "status.phase")(pod);
  expect(status).toEqual({ phase: "Running" });
});

test("leaves an object without managedFields as it is", () => {
  const bare: KubeObject = { metadata: { name: "web" } };
  expect(dropManagedFields(bare)).toBe(bare);
  expect(dropManagedFields(pod).metadata).not.toHaveProperty("managedFields");
  expect(pod.metadata.managedFields).toHaveLength(1);
});
