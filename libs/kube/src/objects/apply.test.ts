import { expect, test } from "@jest/globals";
import { applier } from "./apply.ts";
import type { KubeObject } from "./object.ts";
import { MemoryResource } from "../testing/memory-resource.ts";

test("applies an object under the controller's name, by force, without the metadata of the server", async () => {
  const resource = new MemoryResource<KubeObject>();
  const scheduler = applier("evenkeel-collector-scheduler");
  const object: KubeObject = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace: "shop",
      name: "targets",
      labels: { app: "otel" },
      uid: "1",
      resourceVersion: "7",
      generation: 2,
      creationTimestamp: "2026-01-01T00:00:00Z",
      managedFields: [{}],
    },
  };
  await scheduler.apply(resource, object, { dryRun: true });
  await scheduler.applyStatus(resource, object);
  const stated = {
    object: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "shop", name: "targets", labels: { app: "otel" } },
    },
    fieldManager: "evenkeel-collector-scheduler",
    force: true,
  };
  expect(resource.calls).toEqual([
    { verb: "apply", options: { ...stated, dryRun: true } },
    { verb: "apply", options: stated },
  ]);
});
