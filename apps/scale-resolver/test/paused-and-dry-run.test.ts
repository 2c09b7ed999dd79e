import { describe, expect, jest, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { World } from "./world.ts";

jest.setTimeout(60_000);

/** A replica that is reached at one address of loopback, and nowhere else. */
function replicaAt(world: World, address: string, flags: readonly string[] = []) {
  return world.serve([`--pod-ip=${address}`, `--listen-host=${address}`, ...flags]);
}

describe("a service that sleeps while the resolver's pod is replaced", () => {
  test.concurrent.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
    ["and that is paused", { "evenkeel.io/paused": "true" }, [], "Paused"],
    ["by one in dry run", {}, ["--dry-run"], "Asleep"],
  ])("%s is redirected to the new one, and woken by a request", async (_, annotations, flags, reason) => {
    await using world = await World.start();
    const first = replicaAt(world, "127.0.0.1");
    await world.asleep("shop");
    await world.annotate("shop", annotations);
    first.signal("SIGTERM");
    await first.exit;
    expect(await world.redirectedTo("shop")).toEqual(["127.0.0.1"]);

    replicaAt(world, "127.0.0.2", flags);
    await eventually(async () => expect(await world.redirectedTo("shop")).toEqual(["127.0.0.2"]));
    await world.ready("shop", reason);
    expect(await world.replicas("shop")).toBe(0);
    expect((await world.ask("shop")).status).toBe(200);
    expect(await world.replicas("shop")).toBe(1);
  });

  test.concurrent(
    "by one in dry run leaves others as they are: what is idle serves on, and what somebody scales to zero is not redirected",
    async () => {
      await using world = await World.start();
      const first = replicaAt(world, "127.0.0.1");
      await world.asleep("shop");
      first.signal("SIGTERM");
      await first.exit;
      for (const name of ["idle", "empty"]) {
        world.traffic.set(name, 0);
        await world.workload(name);
      }
      await world.scale("empty", 0);
      await world.isEmpty("empty");
      replicaAt(world, "127.0.0.2", ["--dry-run"]);
      for (const name of ["idle", "empty"]) await world.elasti(name);
      await eventually(async () => expect(await world.redirectedTo("shop")).toEqual(["127.0.0.2"]));
      await world.ready("idle", "Idle");
      await world.ready("empty", "NothingServes");
      expect([...(await world.resolverSlices("idle")), ...(await world.resolverSlices("empty"))]).toEqual([]);
      expect([await world.replicas("idle"), await world.replicas("empty")]).toEqual([1, 0]);
    },
  );
});
