import { once } from "node:events";
import { createServer } from "node:net";
import { services } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
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

test.concurrent(
  "a service is not scaled to zero without data, with a busy metric, outside its period, in a dry run and while it is paused",
  async () => {
    const reasons = {
      silent: "TriggerUnknown",
      busy: "Busy",
      period: "OutsidePeriod",
      dry: "Idle",
      paused: "Paused",
    };
    const names = Object.keys(reasons);
    for (const name of names) {
      await world.workload(name);
      world.traffic.set(name, 0);
    }
    world.traffic.set("silent", null);
    world.traffic.set("busy", 1);
    await world.elasti("silent");
    await world.elasti("busy");
    const tomorrow = new Date(Date.now() + 2 * 86_400_000).getUTCDate();
    await world.elasti("period", { enabledPeriod: { schedule: `0 0 ${tomorrow} * *`, duration: "1h" } });
    await world.elasti("dry", { dryRun: true });
    await world.elasti("paused");
    await world.annotate("paused", { "evenkeel.io/paused": "true" });
    for (const [name, reason] of Object.entries(reasons)) await world.ready(name, reason);
    // Another service with the same periods sleeps meanwhile.
    await world.workload("control");
    world.traffic.set("control", 0);
    await world.elasti("control");
    await world.inState("control", "Zero");
    for (const name of names) expect([name, await world.replicas(name)]).toEqual([name, 1]);
  },
);

test.concurrent("a paused service that a person scales to 0 stays there: its requests are refused", async () => {
  await world.workload("stopped");
  await eventually(() => world.ask("stopped"));
  await world.elasti("stopped", { triggers: undefined });
  await eventually(async () => expect(await world.ownSlices("stopped")).toHaveLength(1));
  await world.annotate("stopped", { "evenkeel.io/paused": "true" });
  await world.ready("stopped", "Paused");
  expect(await world.ownSlices("stopped")).toEqual([]);
  await world.scale("stopped", 0);
  await world.isEmpty("stopped");
  await eventually(() => expect(world.ask("stopped")).rejects.toThrow(/ECONN(REFUSED|RESET)/));
  expect(await world.replicas("stopped")).toBe(0);
});

test.concurrent(
  "a service is not scaled to zero while no resolver is reachable in one of its IP families",
  async () => {
    const families = async (...ipFamilies: readonly string[]) => {
      const body = { spec: { ipFamilies } };
      await world.kube.resource(services).patch({ namespace: "default", name: "families" }, { type: "merge", body });
    };
    await world.workload("families");
    await families("IPv4", "IPv6");
    world.traffic.set("families", 0);
    await world.elasti("families");
    const { status, message } = await world.ready("families", "NoResolver");
    expect([status, message]).toEqual(["False", expect.stringContaining("IPv6")]);
    expect(await world.replicas("families")).toBe(1);

    await families("IPv4");
    await world.inState("families", "Zero");
  },
);

test.concurrent(
  "a service is not scaled to zero while another program uses its port, or no port is left for it",
  async () => {
    await using world = await World.start();
    const first = Number(world.portRange.split("-")[0]);
    await using other = createServer().listen(first, "::");
    await once(other, "listening");
    world.serve([`--port-range=${first}-${first + 1}`]);
    const idle = async (name: string) => {
      world.traffic.set(name, 0);
      await world.workload(name);
      await world.elasti(name);
    };
    await idle("blocked");
    const blocked = await world.ready("blocked", "NoResolver");
    expect([blocked.status, blocked.message]).toEqual(["False", expect.stringContaining("port")]);
    await idle("shop");
    await world.inState("shop", "Zero");
    await idle("exhausted");
    const exhausted = await world.ready("exhausted", "PortsExhausted");
    expect(exhausted.status).toBe("False");
    expect(exhausted.message).toContain("default/exhausted/http");
    expect(exhausted.message).toContain("--port-range");
    for (const name of ["blocked", "exhausted"]) expect([name, await world.replicas(name)]).toEqual([name, 1]);
    // Other services are not affected.
    expect((await world.ask("shop")).status).toBe(200);
  },
);

const seconds = (text: string | undefined) => Date.parse(text ?? "") / 1000;

test.concurrent("cooldownPeriod counts from the end of traffic, which another leader knows", async () => {
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

test.concurrent("cooldownPeriod counts from the object's creation where there was no traffic", async () => {
  // Alone: a query that fails on a busy machine would count as traffic.
  await using world = await World.start();
  world.serverIsUpFor(COOLDOWN);
  await world.workload("new");
  world.traffic.set("new", 0);
  world.serve();
  await world.elasti("new", { cooldownPeriod: COOLDOWN });
  const { status, metadata } = await world.inState("new", "Zero");
  expect(status?.lastScaledUpTime).toBeUndefined();
  expect(seconds(status?.since) - seconds(metadata.creationTimestamp)).toBeGreaterThanOrEqual(COOLDOWN);
});

test.concurrent(
  "cooldownPeriod does not delay the end of enabledPeriod, which wakes a service without a request, and it stays awake",
  async () => {
    await world.asleep("ends", { minTargetReplicas: 2 });
    const tomorrow = new Date(Date.now() + 2 * 86_400_000).getUTCDate();
    const before = world.scaleCalls("ends");
    await world.edit("ends", { enabledPeriod: { schedule: `0 0 ${tomorrow} * *`, duration: "1h" } });
    await world.inState("ends", "Serve");
    expect(await world.replicas("ends")).toBe(2);
    await world.ready("ends", "OutsidePeriod");
    expect(world.scaleCalls("ends") - before).toBe(1);
  },
);
