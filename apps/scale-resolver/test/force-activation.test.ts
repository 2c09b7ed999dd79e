import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KubeObject, ResourceTypeOf } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, jest, test } from "@jest/globals";
import { World } from "./world.ts";

jest.setTimeout(60_000);

const scaledObjects: ResourceTypeOf<KubeObject & { readonly spec?: unknown }> = {
  ...{ group: "keda.sh", version: "v1alpha1", kind: "ScaledObject", plural: "scaledobjects", namespaced: true },
};
const ACTIVE = "autoscaling.keda.sh/force-activation";

test("a ScaledObject that a wake keeps active may scale to zero again, though another is named after a restart", async () => {
  await using world = await World.start();
  world.api.load(await readFile(join(import.meta.dirname, "fixtures/scaledobjects.yaml"), "utf8"));
  const resource = world.kube.resource(scaledObjects);
  const annotations = async () => (await resource.get({ namespace: "default", name: "old" })).metadata.annotations;
  await resource.create({
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { namespace: "default", name: "old" },
    spec: { scaleTargetRef: { name: "shop" }, triggers: [] },
  });
  // It stays in Guard, where the ScaledObject is still kept active.
  const first = world.serve(["--settle=60s"]);
  await world.atZero("shop", { autoscaler: { type: "keda", name: "old" } });
  expect((await world.ask("shop")).status).toBe(200);
  await eventually(async () => expect(await annotations()).toHaveProperty([ACTIVE], "true"));
  await world.inState("shop", "Guard");
  first.signal("SIGKILL");
  await first.exit;

  await world.edit("shop", { autoscaler: { type: "keda", name: "new" } });
  world.serve();
  await eventually(async () => expect(await annotations()).not.toHaveProperty([ACTIVE]));
  await eventually(async () => expect((await world.get("shop")).status?.scaledObject).toBe("new"));
});
