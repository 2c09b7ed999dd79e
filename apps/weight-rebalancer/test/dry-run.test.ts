import { expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { WatchedService } from "./watched-service.ts";
import { World } from "./world.ts";

test("with --dry-run nothing is written: no weight, and no finalizer for onDelete: revert", async () => {
  await using world = await World.start();
  await world.create("checkout", { onDelete: "revert" });
  await using service = new WatchedService(world, ["--dry-run"]);
  await eventually(async () =>
    expect((await world.get("checkout")).status).toMatchObject({ desiredValue: 16, actualValue: 1 }),
  );
  expect(service.decided.length).toBeGreaterThan(0);
  const { metadata, status } = await world.get("checkout");
  expect(metadata.finalizers).toBeUndefined();
  expect(status?.initialWeights).toBeUndefined();
  expect(world.route53.journal).toEqual([]);
});
