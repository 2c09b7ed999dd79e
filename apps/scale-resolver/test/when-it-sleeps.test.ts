import { deployments } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { eventually, World } from "./world.ts";

/** Seconds. */
const COOLDOWN = 4;

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 44 });
  const uptime = `min_over_time((max(up{container="prometheus"}) or vector(0))[${COOLDOWN}s:])`;
  world.prometheus.answer(uptime, () => ({ kind: "vector", samples: [{ metric: {}, value: 1 }] }));
  await world.workload("shop");
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

async function ready() {
  const { status, metadata } = await world.get("shop");
  return { status, metadata, condition: status?.conditions?.find(({ type }) => type === "Ready") };
}

async function hasReason(reason: string): Promise<void> {
  await eventually(async () => expect((await ready()).condition?.reason).toBe(reason));
}

const seconds = (text: string | undefined) => Date.parse(text ?? "") / 1000;

describe("cooldownPeriod", () => {
  test("counts from the end of traffic, of which another leader knows", async () => {
    const first = world.serve();
    await world.elasti("shop", { cooldownPeriod: COOLDOWN });
    await hasReason("Busy");
    world.metric = 0;
    await hasReason("Cooldown");
    const { status, condition } = await ready();
    const { lastScaledUpTime = "" } = status ?? {};
    expect(condition?.message).toContain(`counts from ${lastScaledUpTime}`);
    first.signal("SIGTERM");
    await first.exit;
    world.serve();
    const asleep = await world.inState("shop", "Zero");
    expect(asleep.status?.lastScaledUpTime).toBe(lastScaledUpTime);
    expect(seconds(asleep.status?.since) - seconds(lastScaledUpTime)).toBeGreaterThanOrEqual(COOLDOWN);
  }, 60_000);

  test("counts from the object's creation where there was no traffic", async () => {
    world.metric = 0;
    world.serve();
    await world.elasti("shop", { cooldownPeriod: COOLDOWN });
    await hasReason("Cooldown");
    const { status, metadata } = await world.inState("shop", "Zero");
    expect(status?.lastScaledUpTime).toBeUndefined();
    expect(seconds(status?.since) - seconds(metadata.creationTimestamp)).toBeGreaterThanOrEqual(COOLDOWN);
  });
});

describe("the end of enabledPeriod", () => {
  test("wakes a service that nobody asks, which then stays awake", async () => {
    world.metric = 0;
    world.serve();
    await world.elasti("shop", { minTargetReplicas: 2 });
    await world.sleeps("shop");
    const tomorrow = new Date(Date.now() + 2 * 86_400_000).getUTCDate();
    const spec = { enabledPeriod: { schedule: `0 0 ${tomorrow} * *`, duration: "1h" } };
    const of = { namespace: "default", name: "shop" };
    world.calls.length = 0;
    await world.kube.resource(elastiServices).patch(of, { type: "merge", body: { spec } });
    await world.inState("shop", "Serve");
    expect((await world.kube.resource(deployments).scale.get(of)).spec.replicas).toBe(2);
    await hasReason("OutsidePeriod");
    const scaled = world.calls.filter((call) => call.startsWith("PATCH ") && call.endsWith("/deployments/shop/scale"));
    expect(scaled).toHaveLength(1);
  });
});
