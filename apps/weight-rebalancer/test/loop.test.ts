import { describe, expect, test } from "@jest/globals";
import { leases } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { rebalances } from "../src/rebalance-resource.ts";
import { QUERY, World } from "./world.ts";

const condition = async (world: World, name: string, type: string) =>
  (await world.get(name)).status?.conditions?.find((each) => each.type === type);

describe("weight-rebalancer as a process", () => {
  test("follows the metric with the record's weight, and says so in status, metrics, Events and decisions", async () => {
    await using world = await World.start();
    await world.create("checkout");
    const service = world.serve();
    await eventually(() => expect(world.weight()).toBe(16));
    await eventually(async () =>
      expect((await world.get("checkout")).status).toMatchObject({
        condition: "Healty",
        desiredValue: 16,
        actualValue: 16,
      }),
    );
    world.metric = 1500;
    await eventually(() => expect(world.weight()).toBe(4));
    const scrape = await (await fetch(await service.url("admin", "/metrics"))).text();
    expect(scrape).toContain('rebalancer_desired{name="checkout",namespace="default"} 4');
    expect(scrape).toContain('rebalancer_metric{name="checkout",namespace="default"} 1500');
    const { weights } = (await (await fetch(await service.url("admin", "/api/v1/Weights/Get"))).json()) as {
      weights: unknown[];
    };
    expect(weights).toMatchObject([
      { rebalance: { namespace: "default", name: "checkout" }, metric: 1500, targetValue: 1000 },
    ]);
  });

  test("writes nothing in a dry run, and shows what it would write", async () => {
    await using world = await World.start();
    await world.create("checkout", { dryRun: true });
    world.serve();
    await eventually(async () =>
      expect((await world.get("checkout")).status).toMatchObject({
        condition: "Unhealthy",
        desiredValue: 16,
        actualValue: 1,
      }),
    );
    expect(world.route53.journal).toEqual([]);
  });

  test("holds the weight while the metric is gone, and goes on when it is back", async () => {
    await using world = await World.start();
    await world.create("checkout");
    world.serve();
    await eventually(() => expect(world.weight()).toBe(16));
    world.metric = null;
    await eventually(async () =>
      expect(await condition(world, "checkout", "MetricsAvailable")).toMatchObject({
        status: "False",
        reason: "NoData",
      }),
    );
    expect(world.weight()).toBe(16);
    world.metric = 2000;
    await eventually(() => expect(world.weight()).toBe(8));
    await eventually(async () => expect(await condition(world, "checkout", "Ready")).toMatchObject({ status: "True" }));
  });

  test("tells in a condition that the record's identifier is wrong", async () => {
    await using world = await World.start();
    await world.create("checkout", {
      target: { route53: { ...(world.spec("green")["target"] as { route53: object }).route53 } },
    });
    world.serve();
    await eventually(async () => {
      expect(await condition(world, "checkout", "TargetSynced")).toMatchObject({
        status: "False",
        message: expect.stringContaining("green"),
      });
    });
    expect((await world.get("checkout")).status?.condition).toBe("Error");
  });

  test("sets the weight back when an object that asks for it is deleted, and lets it go", async () => {
    await using world = await World.start();
    await world.create("checkout", { onDelete: "revert" });
    world.serve();
    await eventually(() => expect(world.weight()).toBe(16));
    await world.kube.resource(rebalances).delete({ namespace: "default", name: "checkout" });
    await eventually(() => expect(world.weight()).toBe(1));
    await eventually(() => expect(world.get("checkout")).rejects.toMatchObject({ code: "EK_KUBE_NOT_FOUND" }));
  });

  test("sets nothing back beside the original, which may be writing the same record", async () => {
    await using world = await World.start();
    await world.create("checkout", { onDelete: "revert" });
    const service = world.serve();
    await eventually(() => expect(world.weight()).toBe(16));
    const spec = { holderIdentity: "pod-1", leaseDurationSeconds: 600, renewTime: new Date().toISOString() };
    const metadata = { namespace: "default", name: "e7eaa5de.ch1aki.github.io" };
    await world.kube
      .resource(leases)
      .create({ metadata, spec: { ...spec, renewTime: spec.renewTime.replace("Z", "000Z") } });
    await eventually(async () => {
      expect(await condition(world, "checkout", "Ready")).toMatchObject({ status: "False", reason: "OriginalRuns" });
    }, 25_000);
    await world.kube.resource(rebalances).delete({ namespace: "default", name: "checkout" });
    await eventually(() => expect(world.get("checkout")).rejects.toMatchObject({ code: "EK_KUBE_NOT_FOUND" }));
    expect(world.weight()).toBe(16);
    expect(service.lines).toContainEqual(
      expect.objectContaining({ level: "warn", lease: expect.stringContaining("pod-1") }),
    );
  }, 60_000);

  test("leaves the weight when an object that does not ask is deleted, and its metrics go", async () => {
    await using world = await World.start();
    await world.create("checkout");
    const service = world.serve();
    await eventually(() => expect(world.weight()).toBe(16));
    await world.kube.resource(rebalances).delete({ namespace: "default", name: "checkout" });
    await eventually(async () => {
      expect(await (await fetch(await service.url("admin", "/metrics"))).text()).not.toContain('name="checkout"');
    });
    expect(world.weight()).toBe(16);
  });

  test("exports no value of a Rebalance after it has lost the Lease", async () => {
    await using world = await World.start();
    await world.create("checkout");
    const service = world.serve(["--lease-retry-period=100ms"]);
    const scrape = async () => (await fetch(await service.url("admin", "/metrics"))).text();
    await eventually(async () => expect(await scrape()).toContain('rebalancer_healthy{name="checkout"'));
    const lease = { namespace: "default", name: "weight-rebalancer" };
    const body = { spec: { holderIdentity: "another", leaseDurationSeconds: 600 } };
    await world.kube.resource(leases).patch(lease, { type: "merge", body });
    await eventually(async () => expect(await scrape()).not.toContain('name="checkout"'));
    await service.phase("ready");
  });

  test("does nothing while it is suspended or paused", async () => {
    await using world = await World.start();
    await world.create("checkout", { suspend: true });
    world.serve();
    await eventually(async () =>
      expect(await condition(world, "checkout", "Paused")).toMatchObject({ status: "True" }),
    );
    expect(world.route53.journal).toEqual([]);
    const body = { spec: { suspend: false }, metadata: { annotations: { "evenkeel.io/paused": "true" } } };
    await world.kube.resource(rebalances).patch({ namespace: "default", name: "checkout" }, { type: "merge", body });
    await eventually(async () =>
      expect(await condition(world, "checkout", "Paused")).toMatchObject({
        message: expect.stringContaining("annotation"),
      }),
    );
    expect(world.route53.journal).toEqual([]);
    const resume = { metadata: { annotations: { "evenkeel.io/paused": null } } };
    await world.kube
      .resource(rebalances)
      .patch({ namespace: "default", name: "checkout" }, { type: "merge", body: resume });
    await eventually(() => expect(world.weight()).toBe(16));
  });

  test("writes its status only when something changed", async () => {
    await using world = await World.start();
    await world.create("checkout");
    world.serve();
    await eventually(async () =>
      expect(await condition(world, "checkout", "TargetSynced")).toMatchObject({ status: "True" }),
    );
    await eventually(async () =>
      expect(await condition(world, "checkout", "Ready")).toMatchObject({ reason: "InStep" }),
    );
    const { resourceVersion } = (await world.get("checkout")).metadata;
    let queries = 0;
    world.prometheus.answer(QUERY, () => {
      queries += 1;
      return { kind: "vector", samples: [{ metric: {}, value: 2999.9 }] };
    });
    await eventually(() => expect(queries).toBeGreaterThanOrEqual(3));
    expect((await world.get("checkout")).metadata.resourceVersion).toBe(resourceVersion);
  });
});
