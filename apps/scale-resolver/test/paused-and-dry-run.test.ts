import { describe, expect, jest, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { World } from "./world.ts";

jest.setTimeout(60_000);

/** A replica that listens on one loopback address only. */
function replicaAt(world: World, address: string, flags: readonly string[] = []) {
  return world.serve([`--pod-ip=${address}`, `--listen-host=${address}`, ...flags]);
}

/** A world with the service `shop` asleep, after its resolver at 127.0.0.1 has stopped. */
async function withoutResolver(annotations: Readonly<Record<string, string>> = {}): Promise<World> {
  const world = await World.start();
  const first = replicaAt(world, "127.0.0.1");
  await world.asleep("shop");
  await world.annotate("shop", annotations);
  first.signal("SIGTERM");
  await first.exit;
  expect(await world.redirectedTo("shop")).toEqual(["127.0.0.1"]);
  return world;
}

async function isWokenBySecond(world: World, reason: string): Promise<void> {
  await eventually(async () => expect(await world.redirectedTo("shop")).toEqual(["127.0.0.2"]));
  await world.ready("shop", reason);
  expect(await world.replicas("shop")).toBe(0);
  expect((await world.ask("shop")).status).toBe(200);
  expect(await world.replicas("shop")).toBe(1);
}

describe("a service that sleeps while the resolver's pod is replaced", () => {
  test.concurrent("and that is paused is redirected to the new one, and woken by a request", async () => {
    await using world = await withoutResolver({ "evenkeel.io/paused": "true" });
    replicaAt(world, "127.0.0.2");
    await isWokenBySecond(world, "Paused");
  });

  test.concurrent(
    "by one in dry run is redirected to the new one and woken by a request, and no other service is changed",
    async () => {
      await using world = await withoutResolver();
      for (const name of ["idle", "empty"]) {
        world.traffic.set(name, 0);
        await world.workload(name, name === "empty" ? 0 : 1);
      }
      replicaAt(world, "127.0.0.2", ["--dry-run"]);
      for (const name of ["idle", "empty"]) await world.elasti(name);
      await world.ready("idle", "Idle");
      await world.ready("empty", "NothingServes");
      await isWokenBySecond(world, "Asleep");
      expect([...(await world.resolverSlices("idle")), ...(await world.resolverSlices("empty"))]).toEqual([]);
      expect([await world.replicas("idle"), await world.replicas("empty")]).toEqual([1, 0]);
    },
  );
});
