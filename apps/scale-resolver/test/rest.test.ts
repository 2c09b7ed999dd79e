import { endpointSlices } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices } from "../src/elasti-service-resource.ts";
import { eventually, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 40 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** The addresses to which the resolver's slices of `shop` lead. */
async function led(): Promise<readonly string[]> {
  const labelSelector =
    "kubernetes.io/service-name=shop,endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io";
  const { items } = await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector });
  return items.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses));
}

/** A replica that is reached at one address of loopback, and nowhere else. */
function replicaAt(address: string, flags: readonly string[] = []) {
  return world.serve([`--pod-ip=${address}`, `--listen-host=${address}`, ...flags]);
}

async function reason(name: string): Promise<string | undefined> {
  return (await world.get(name)).status?.conditions?.find(({ type }) => type === "Ready")?.reason;
}

/** `shop` sleeps behind a replica that is not there any more. */
async function leftAsleep(annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  await world.workload("shop");
  world.metric = 0;
  const first = replicaAt("127.0.0.1");
  await world.elasti("shop");
  await world.sleeps("shop");
  const shop = { namespace: "default", name: "shop" };
  await world.kube.resource(elastiServices).patch(shop, { type: "merge", body: { metadata: { annotations } } });
  first.signal("SIGTERM");
  await first.exit;
  expect(await led()).toEqual(["127.0.0.1"]);
}

describe("a service that sleeps while the resolver's pod is replaced", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
    ["and that is paused", { "evenkeel.io/paused": "true" }, [], "Paused"],
    ["by one in dry run", {}, ["--dry-run"], "Asleep"],
  ])(
    "%s is led to the new one, and woken by a request",
    async (_, annotations, flags, rests) => {
      await leftAsleep(annotations);
      replicaAt("127.0.0.2", flags);
      await eventually(async () => expect(await led()).toEqual(["127.0.0.2"]));
      await eventually(async () => expect(await reason("shop")).toBe(rests));
      expect(await world.replicas("shop")).toBe(0);
      expect((await world.ask("shop")).status).toBe(200);
      expect(await world.replicas("shop")).toBe(1);
    },
    60_000,
  );
});

describe("a dry run", () => {
  test("lays no new path: what is idle serves on, and what somebody scales to zero is not joined", async () => {
    await leftAsleep();
    for (const name of ["idle", "empty"]) await world.workload(name);
    await world.scale("empty", 0);
    await world.isEmpty("empty");
    replicaAt("127.0.0.2", ["--dry-run"]);
    for (const name of ["idle", "empty"]) await world.elasti(name);
    await eventually(async () => expect(await led()).toEqual(["127.0.0.2"]));
    await eventually(async () =>
      expect([await reason("idle"), await reason("empty")]).toEqual(["Idle", "NothingServes"]),
    );
    const { items } = await world.kube.resource(endpointSlices).list({ namespace: "default" });
    const laid = items.flatMap(({ metadata: { name = "" } }) => (name.startsWith("evenkeel-") ? [name] : []));
    expect(laid).toEqual(["evenkeel-shop-ipv4"]);
    expect([await world.replicas("idle"), await world.replicas("empty")]).toEqual([1, 0]);
  }, 60_000);
});
