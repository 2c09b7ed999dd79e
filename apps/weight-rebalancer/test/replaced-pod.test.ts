import { describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { Route53Client } from "@evenkeel/sim";
import { WatchedService } from "./watched-service.ts";
import { World } from "./world.ts";

/** Changes the weight of `blue` as an operator would. */
async function setByHand(world: World, weight: number): Promise<void> {
  const record = world.route53.records("Z1").find(({ setIdentifier }) => setIdentifier === "blue");
  if (!record) throw new Error("no record blue");
  await eventually(() => new Route53Client(world.route53.url).change("Z1", ["UPSERT", { ...record, weight }]));
}

const lastWrite = async (world: World) => (await world.get("checkout")).status?.lastWrite;

/** Each service has a state of its own in memory, as in a pod whose volume is an emptyDir. */
describe("a pod that replaces another, with an empty state,", () => {
  test.concurrent("leaves a weight alone that an operator set by hand, where the spec says so", async () => {
    await using world = await World.start();
    await world.create("checkout", { onExternalChange: "yield" });
    {
      await using service = new WatchedService(world);
      await eventually(async () => expect(await lastWrite(world)).toMatchObject({ weight: 16, generation: 1 }));
      expect(service.decided.length).toBeGreaterThan(0);
    }
    await setByHand(world, 5);
    await using service = new WatchedService(world);
    await eventually(() => expect(service.decided.at(-1)?.verdict.reason).toBe("ExternalChange"));
    const enough = service.decided.length + 2;
    await eventually(() => service.decided.length >= enough);
    expect(world.weight()).toBe(5);
  });

  test.concurrent("waits until the last change has reached all clients before it measures the base", async () => {
    await using world = await World.start();
    const targettracking = { targetValue: 1000, baseValue: 8, scope: "base" };
    await world.create("checkout", { policy: { targettracking } });
    {
      await using service = new WatchedService(world);
      await eventually(async () => expect(await lastWrite(world)).toHaveProperty("changedAt"));
      expect(service.decided.length).toBeGreaterThan(0);
    }
    const written = world.weight();
    await using service = new WatchedService(world);
    await eventually(() => expect(service.decided.length).toBeGreaterThan(2));
    // The record's TTL is a minute: until then, clients still use the weights from before the change.
    for (const { verdict } of service.decided) expect(verdict).toMatchObject({ action: "hold", reason: "Settling" });
    expect(world.weight()).toBe(written);
  });
});
