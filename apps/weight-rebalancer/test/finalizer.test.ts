import { expect, test } from "@jest/globals";
import { keepFinalizer } from "../src/act/revert.ts";
import { rebalances, REVERT_FINALIZER } from "../src/rebalance-resource.ts";
import { World } from "./world.ts";

const { signal } = new AbortController();

test("an object that stays gets the finalizer that it asks for", async () => {
  await using world = await World.start();
  const object = await world.create("checkout", { onDelete: "revert" });
  expect(await keepFinalizer(world.kube.resource(rebalances), object, "revert", signal)).toBe(true);
  expect((await world.get("checkout")).metadata.finalizers).toEqual([REVERT_FINALIZER]);
});

test("one that went before its turn is no error, and gets no turn", async () => {
  await using world = await World.start();
  const object = await world.create("checkout", { onDelete: "revert" });
  await world.kube.resource(rebalances).delete({ namespace: "default", name: "checkout" });
  expect(await keepFinalizer(world.kube.resource(rebalances), object, "revert", signal)).toBe(false);
});
