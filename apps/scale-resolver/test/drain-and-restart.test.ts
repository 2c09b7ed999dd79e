import { endpointSlices } from "@evenkeel/kube";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { metricOf } from "./asking.ts";
import { eventually, World } from "./world.ts";

let world: World;
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Resolves when a Service has `count` requests that wait. */
async function held(metrics: string, service: string, count: number): Promise<void> {
  await eventually(async () => {
    expect(await metricOf(metrics, "evenkeel_resolver_pending", { service })).toBe(count);
  });
}

describe("a resolver that is told to end", () => {
  beforeEach(async () => {
    world = await World.start({ number: 12, startDelay: 5000 });
  });

  test("with 500 requests held loses none of them: a pod that gets ready within the drain answers all", async () => {
    await world.workload("shop", 0);
    const service = world.serve(["--drain-timeout=25s"]);
    await world.elasti("shop");
    await world.inState("shop", "Zero");
    const answers = Array.from({ length: 500 }, (_, index) =>
      world.ask("shop", index % 2 === 0 ? { path: `/${index}` } : { method: "POST", path: `/${index}`, body: "x" }),
    );
    await held(await service.url("admin", "/metrics"), "shop", 500);
    expect(world.seen).toEqual([]);
    service.signal("SIGTERM");
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: 500 }, () => 200));
    expect(new Set(world.seen.map(({ path }) => path)).size).toBe(500);
    expect(world.seen).toHaveLength(500);
    expect((await service.exit).code).toBe(0);
  }, 60_000);
});

describe("a resolver that starts anew", () => {
  beforeEach(async () => {
    world = await World.start({ number: 13 });
  });

  test("after it was killed while a service slept takes over at once, and the next request wakes it", async () => {
    await world.workload("shop");
    world.metric = 0;
    const first = world.serve(["--pod-name=first"]);
    await world.elasti("shop");
    await world.sleeps("shop");
    first.signal("SIGKILL");
    await first.exit;
    const second = world.serve(["--pod-name=second"]);
    await second.phase("ready");
    await eventually(async () => expect((await world.ask("shop")).status).toBe(200));
    expect(await world.replicas("shop")).toBe(1);
    world.metric = 5;
    await world.inState("shop", "Serve");
  });

  test("finds a service that serves, one that sleeps, one that wakes and one whose last pod leaves where they are", async () => {
    const names = ["serving", "sleeping", "waking", "leaving"];
    for (const name of names) await world.workload(name, name === "sleeping" ? 0 : 1);
    const first = world.serve();
    for (const name of names) await world.elasti(name, { triggers: undefined });
    for (const name of names) await world.inState(name, name === "sleeping" ? "Zero" : "Serve");
    await world.scale("waking", 0);
    await world.inState("waking", "Zero");
    first.signal("SIGTERM");
    await first.exit;

    // While nobody looks, one is scaled up to pods that do not get ready soon, and another one down.
    await world.scale("waking", 1);
    await world.scale("leaving", 0);
    const second = world.serve();
    await second.phase("ready");
    await world.inState("waking", "Serve");
    await world.inState("leaving", "Zero");
    await world.inState("serving", "Serve");
    await world.inState("sleeping", "Zero");
    // None of those that serve was put to sleep, and none that sleeps was woken.
    const replicas = await Promise.all(names.map((name) => world.replicas(name)));
    expect(Object.fromEntries(names.map((name, index) => [name, replicas[index]]))).toEqual({
      ...{ serving: 1, sleeping: 0, waking: 1, leaving: 0 },
    });
    for (const name of names) {
      const { status } = await eventually(() => world.ask(name, { path: `/${name}` }));
      expect([name, status, await world.replicas(name)]).toEqual([name, 200, 1]);
    }
  });

  test("leaves a path in which it was forgotten, once pods are ready", async () => {
    await world.workload("shop");
    world.metric = 0;
    const first = world.serve();
    await world.elasti("shop", { quietPeriod: 600 });
    await world.inState("shop", "Guard");
    first.signal("SIGKILL");
    await first.exit;
    world.metric = 5;
    world.serve();
    await world.inState("shop", "Serve");
    const labelSelector = "endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io";
    await eventually(async () => {
      const { items } = await world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector });
      expect(items).toEqual([]);
    });
    expect(await world.replicas("shop")).toBe(1);
  });

  test("keeps the ports that were given, so that connections to them find it again", async () => {
    for (const name of ["one", "two", "three"]) await world.workload(name, 0);
    const first = world.serve();
    for (const name of ["one", "two", "three"]) await world.elasti(name);
    const before = await Promise.all(["one", "two", "three"].map((name) => world.inState(name, "Zero")));
    first.signal("SIGKILL");
    await first.exit;
    const second = world.serve();
    await second.phase("ready");
    await eventually(async () => expect((await world.ask("two")).status).toBe(200));
    const after = await Promise.all(["one", "two", "three"].map((name) => world.get(name)));
    expect(after.map(({ status }) => status?.ports)).toEqual(before.map(({ status }) => status?.ports));
    expect(new Set(after.map(({ status }) => status?.ports?.[0]?.port)).size).toBe(3);
  });
});
