import { eventually } from "@evenkeel/runtime/testing";
import { Route53Client } from "@evenkeel/sim";
import { expect, test } from "@jest/globals";
import { rebalances } from "../src/rebalance-resource.ts";
import { SteppedService } from "./stepped-service.ts";
import { World } from "./world.ts";

const synced = async (world: World) =>
  (await world.get("checkout")).status?.conditions?.find(({ type }) => type === "TargetSynced");

test("a change that is in effect is reported within seconds, and nothing is decided before the interval is over", async () => {
  await using world = await World.start();
  await world.create("checkout", { interval: "1h" });
  await using service = await SteppedService.start(world);
  await service.until(() => expect(world.weight()).toBe(16));
  await service.until(async () => expect(await synced(world)).toMatchObject({ status: "Unknown", reason: "Pending" }));
  const { decided } = service.watched;
  const count = decided.length;
  world.metric = 5000;
  const { change = "" } = world.route53.journal.at(-1) ?? {};
  const client = new Route53Client(world.route53.url);
  await eventually(async () => expect(await client.getChange(change)).toMatchObject({ status: "INSYNC" }));
  await service.until(
    async () => expect(await synced(world)).toMatchObject({ status: "True", reason: "InSync" }),
    60_000,
  );
  expect(decided).toHaveLength(count);
  expect(world.weight()).toBe(16);
});

test("a spec that is edited while a change is pending is reconciled at once", async () => {
  await using world = await World.start();
  await world.create("checkout", { interval: "1h" });
  await using service = await SteppedService.start(world);
  await service.until(async () => expect(await synced(world)).toMatchObject({ reason: "Pending" }));
  const body = { spec: { policy: { targettracking: { maximum: 10 } } } };
  await world.kube.resource(rebalances).patch({ namespace: "default", name: "checkout" }, { type: "merge", body });
  await service.until(() => expect(world.weight()).toBe(10), 60_000);
});
