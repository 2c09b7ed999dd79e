import { endpointSlices } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elastiServices, FINALIZER, type StoredElastiService } from "../src/elasti-service-resource.ts";
import { eventually, World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start({ number: 41 });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const named = (name: string) => ({ namespace: "default", name });

/** The resolver's slices: names, uids and versions. */
async function ownSlices() {
  const labelSelector = "endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io";
  const { items } = await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector });
  return items.map(({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion }));
}

async function isGone(name: string): Promise<void> {
  await eventually(async () => {
    const { items } = await world.kube.resource(elastiServices).list({ namespace: "default" });
    expect(items.map(({ metadata }) => metadata.name)).not.toContain(name);
  });
}

async function reason(name: string): Promise<string | undefined> {
  return (await world.get(name)).status?.conditions?.find(({ type }) => type === "Ready")?.reason;
}

/** `shop` sleeps. */
async function asleep() {
  await world.workload("shop");
  world.metric = 0;
  const service = world.serve();
  const object = await world.elasti("shop");
  await world.sleeps("shop");
  return { service, object };
}

describe("a second ElastiService of a Service that sleeps", () => {
  /** As KubeElasti has left it, whose finalizer every object has. */
  async function second({ spec }: StoredElastiService, status: object = {}): Promise<void> {
    const metadata = { ...named("shop-too"), finalizers: [FINALIZER] };
    const resource = world.kube.resource(elastiServices);
    await resource.create({ metadata, spec });
    await resource.status.patch(named("shop-too"), { type: "merge", body: { status } });
    await eventually(async () => expect(await reason("shop-too")).toBe("Conflict"));
  }

  test("is deleted without a trace in the path of the first", async () => {
    const { object } = await asleep();
    await second(object);
    const before = await ownSlices();
    expect(before).toHaveLength(1);
    await world.kube.resource(elastiServices).delete(named("shop-too"));
    await isGone("shop-too");
    expect(await ownSlices()).toEqual(before);
    expect(await world.replicas("shop")).toBe(0);
    expect((await world.ask("shop")).status).toBe(200);
  }, 60_000);

  test("is pointed at another without a trace in the path of the first", async () => {
    const { object } = await asleep();
    const { service, scaleTargetRef } = object.spec as Readonly<Record<string, unknown>>;
    // It had looked after the Service before the first did.
    await second(object, { service, scaleTargetRef, state: "Zero", mode: "proxy" });
    const before = await ownSlices();
    await world.workload("cellar");
    const spec = { service: "cellar", scaleTargetRef: { name: "cellar" }, triggers: null };
    await world.kube.resource(elastiServices).patch(named("shop-too"), { type: "merge", body: { spec } });
    await eventually(async () => expect((await world.get("shop-too")).status?.service).toBe("cellar"));
    await world.inState("shop-too", "Serve");
    expect(await ownSlices()).toEqual(before);
    expect(await world.replicas("shop")).toBe(0);
    expect((await world.ask("shop")).status).toBe(200);
  }, 60_000);
});

describe("in a dry run", () => {
  test("what sleeps is woken before its ElastiService goes, and what never was in the path stays as it is", async () => {
    const { service } = await asleep();
    service.signal("SIGTERM");
    await service.exit;
    await world.workload("cellar", 0);
    world.serve(["--dry-run"]);
    await world.elasti("cellar");
    for (const [name, told] of [
      ["shop", "Asleep"],
      ["cellar", "NothingServes"],
    ] as const) {
      await eventually(async () => expect(await reason(name)).toBe(told));
    }
    for (const name of ["shop", "cellar"]) await world.kube.resource(elastiServices).delete(named(name));
    for (const name of ["shop", "cellar"]) await isGone(name);
    expect([await world.replicas("shop"), await world.replicas("cellar")]).toEqual([1, 0]);
    expect(await ownSlices()).toEqual([]);
    expect((await world.ask("shop")).status).toBe(200);
  }, 60_000);

  test("an ElastiService that is pointed at another Service gives the one that sleeps back awake", async () => {
    const { service } = await asleep();
    service.signal("SIGTERM");
    await service.exit;
    await world.workload("cellar");
    world.serve(["--dry-run"]);
    const spec = { service: "cellar", scaleTargetRef: { name: "cellar" } };
    await world.kube.resource(elastiServices).patch(named("shop"), { type: "merge", body: { spec } });
    await eventually(async () => expect(await world.replicas("shop")).toBe(1));
    await eventually(async () => expect(await ownSlices()).toEqual([]));
    await eventually(async () => expect((await world.get("shop")).status?.service).toBe("cellar"));
    expect((await world.ask("shop")).status).toBe(200);
  }, 60_000);
});
