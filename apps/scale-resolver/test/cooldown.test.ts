import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { World } from "./world.ts";

jest.setTimeout(60_000);

/** Seconds. */
const COOLDOWN = 4;

let world: World;
beforeAll(async () => {
  world = await World.start();
  world.serverIsUpFor(COOLDOWN);
  world.serve();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const seconds = (text: string | undefined) => Date.parse(text ?? "") / 1000;

describe("cooldownPeriod", () => {
  test.concurrent("counts from the end of traffic, which another leader knows", async () => {
    await using world = await World.start();
    world.serverIsUpFor(COOLDOWN);
    await world.workload("shop");
    const first = world.serve();
    await world.elasti("shop", { cooldownPeriod: COOLDOWN });
    await world.ready("shop", "Busy");
    world.traffic.set("shop", 0);
    const { message } = await world.ready("shop", "Cooldown");
    const { lastScaledUpTime = "" } = (await world.get("shop")).status ?? {};
    expect(lastScaledUpTime).not.toBe("");
    expect(message).toContain(lastScaledUpTime);
    first.signal("SIGTERM");
    await first.exit;
    world.serve();
    const asleep = await world.inState("shop", "Zero");
    expect(asleep.status?.lastScaledUpTime).toBe(lastScaledUpTime);
    expect(seconds(asleep.status?.since) - seconds(lastScaledUpTime)).toBeGreaterThanOrEqual(COOLDOWN);
  });

  test.concurrent("counts from the object's creation where there was no traffic", async () => {
    await world.workload("new");
    world.traffic.set("new", 0);
    await world.elasti("new", { cooldownPeriod: COOLDOWN });
    const { status, metadata } = await world.inState("new", "Zero");
    expect(status?.lastScaledUpTime).toBeUndefined();
    expect(seconds(status?.since) - seconds(metadata.creationTimestamp)).toBeGreaterThanOrEqual(COOLDOWN);
  });

  test.concurrent(
    "does not delay the end of enabledPeriod, which wakes a service without a request, and it stays awake",
    async () => {
      await world.asleep("period", { minTargetReplicas: 2 });
      const tomorrow = new Date(Date.now() + 2 * 86_400_000).getUTCDate();
      const before = world.scaleCalls("period");
      await world.edit("period", { enabledPeriod: { schedule: `0 0 ${tomorrow} * *`, duration: "1h" } });
      await world.inState("period", "Serve");
      expect(await world.replicas("period")).toBe(2);
      await world.ready("period", "OutsidePeriod");
      expect(world.scaleCalls("period") - before).toBe(1);
    },
  );
});
