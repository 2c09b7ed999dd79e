import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { leases } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import type { ServiceProcess } from "@evenkeel/testkit";
import { rebalances } from "../src/rebalance-resource.ts";
import { twoSites, World } from "./world.ts";

jest.setTimeout(60_000);

const NAMES = [
  "followed",
  "dry",
  "gone",
  "wrong",
  "reverted",
  "kept",
  "stopped",
  "claimed",
  "rival",
  "ambient",
] as const;

/** A Rebalance with a DNS name and a metric of its own, so that cases share a world. */
class Site {
  /** Null is no sample at all. */
  metric: number | null = 3000;
  readonly #world: World;
  readonly #name: string;

  constructor(world: World, name: (typeof NAMES)[number]) {
    this.#world = world;
    this.#name = name;
    world.prometheus.answer(this.#query, () => ({
      kind: "vector",
      samples: this.metric === null ? [] : [{ metric: {}, value: this.metric }],
    }));
  }

  async create(change: Readonly<Record<string, unknown>> = {}, identifier = "blue"): Promise<void> {
    const { target } = this.#world.spec(identifier, `${this.#name}.example.com`);
    const metrics = { prometheus: { address: this.#world.prometheus.url, query: this.#query } };
    await this.#world.create(this.#name, { target, metrics, ...change });
  }

  get() {
    return this.#world.get(this.#name);
  }

  async condition(type: string) {
    return (await this.get()).status?.conditions?.find((each) => each.type === type);
  }

  async patch(body: object): Promise<void> {
    const at = { namespace: "default", name: this.#name };
    await this.#world.kube.resource(rebalances).patch(at, { type: "merge", body });
  }

  async delete(): Promise<void> {
    await this.#world.kube.resource(rebalances).delete({ namespace: "default", name: this.#name });
  }

  get weight(): number | undefined {
    return this.#world.route53.records("Z1").find((record) => this.#isOwn(record) && record.setIdentifier === "blue")
      ?.weight;
  }

  /** The weights that were written, in order. */
  get written(): readonly (number | undefined)[] {
    return this.#world.route53.journal.flatMap(({ after }) => (after && this.#isOwn(after) ? [after.weight] : []));
  }

  #isOwn({ name }: { readonly name: string }): boolean {
    return name.replace(/\.$/, "") === `${this.#name}.example.com`;
  }

  get #query(): string {
    return `sum(requests{site="${this.#name}"})`;
  }
}

describe("weight-rebalancer as a process", () => {
  let world: World;
  let service: ServiceProcess;
  beforeAll(async () => {
    world = await World.start(NAMES.flatMap((name) => twoSites(`${name}.example.com`)));
    service = world.serve();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  const scrape = async () => (await fetch(await service.url("admin", "/metrics"))).text();

  test.concurrent(
    "follows the metric with the record's weight, and reports it in status, metrics and the API",
    async () => {
      const site = new Site(world, "followed");
      await site.create();
      await eventually(() => expect(site.weight).toBe(16));
      await eventually(async () =>
        expect((await site.get()).status).toMatchObject({ condition: "Healty", desiredValue: 16, actualValue: 16 }),
      );
      site.metric = 1500;
      await eventually(() => expect(site.weight).toBe(4));
      const text = await scrape();
      expect(text).toContain('rebalancer_desired{name="followed",namespace="default"} 4');
      expect(text).toContain('rebalancer_metric{name="followed",namespace="default"} 1500');
      const { weights } = (await (await fetch(await service.url("admin", "/api/v1/Weights/Get"))).json()) as {
        weights: unknown[];
      };
      expect(weights).toContainEqual(
        expect.objectContaining({
          rebalance: { namespace: "default", name: "followed" },
          metric: 1500,
          targetValue: 1000,
        }),
      );
    },
  );

  test.concurrent(
    "two that name one record do not fight: the older one writes, the other says why it does not",
    async () => {
      const [one, other] = [new Site(world, "claimed"), new Site(world, "rival")];
      other.metric = 9000;
      const { target } = world.spec("blue", "claimed.example.com");
      await one.create();
      await other.create({ target });
      const conflicts = async () => {
        const ready = await Promise.all([one, other].map((site) => site.condition("Ready")));
        return ready.filter((condition) => condition?.status === "False" && condition.reason === "Conflict").length;
      };
      // Created within a second, the uid decides which is older.
      await eventually(async () => expect(await conflicts()).toBe(1));
      const younger = (await one.condition("Ready"))?.reason === "Conflict" ? one : other;
      const [older, weight] = younger === one ? [other, 64] : [one, 16];
      await eventually(() => expect(one.weight).toBe(weight));
      const written = one.written.length;
      await older.delete();
      await eventually(async () => expect(await younger.condition("Ready")).toMatchObject({ status: "True" }));
      await eventually(() => expect(one.weight).toBe(weight === 16 ? 64 : 16));
      expect(one.written.length).toBe(written + 1);
    },
  );

  test.concurrent("writes nothing in a dry run, and shows what it would write", async () => {
    const site = new Site(world, "dry");
    await site.create({ dryRun: true, onDelete: "revert" });
    await eventually(async () =>
      expect((await site.get()).status).toMatchObject({ condition: "Unhealthy", desiredValue: 16, actualValue: 1 }),
    );
    expect(site.written).toEqual([]);
    expect((await site.get()).metadata.finalizers).toBeUndefined();
  });

  test.concurrent("holds the weight while the metric is gone, and goes on when it is back", async () => {
    const site = new Site(world, "gone");
    await site.create();
    await eventually(() => expect(site.weight).toBe(16));
    site.metric = null;
    await eventually(async () =>
      expect(await site.condition("MetricsAvailable")).toMatchObject({ status: "False", reason: "NoData" }),
    );
    expect(site.weight).toBe(16);
    site.metric = 2000;
    await eventually(() => expect(site.weight).toBe(8));
    await eventually(async () => expect(await site.condition("Ready")).toMatchObject({ status: "True" }));
  });

  test.concurrent("reports a wrong identifier of the record in a condition", async () => {
    const site = new Site(world, "wrong");
    await site.create({}, "green");
    await eventually(async () => {
      expect(await site.condition("TargetSynced")).toMatchObject({
        status: "False",
        message: expect.stringContaining("green"),
      });
    });
    expect((await site.get()).status?.condition).toBe("Error");
  });

  test.concurrent("tells a Rebalance without auth which flag allows the identity of the service", async () => {
    const site = new Site(world, "ambient");
    const resource = { name: "ambient.example.com", type: "A", identifier: "blue" };
    await site.create({ target: { route53: { hostedZoneID: "Z1", resource } } });
    await eventually(async () =>
      expect(await site.condition("TargetSynced")).toMatchObject({
        status: "False",
        reason: "Route53AmbientDenied",
        message: expect.stringContaining("--allow-ambient-credentials"),
      }),
    );
    expect(site.written).toEqual([]);
  });

  test.concurrent("restores the weight when an object with onDelete: revert is deleted, and releases it", async () => {
    const site = new Site(world, "reverted");
    await site.create({ onDelete: "revert" });
    await eventually(() => expect(site.weight).toBe(16));
    await site.delete();
    await eventually(() => expect(site.weight).toBe(1));
    await eventually(() => expect(site.get()).rejects.toMatchObject({ code: "EK_KUBE_NOT_FOUND" }));
  });

  test.concurrent("leaves the weight when an object without onDelete is deleted, and removes its metrics", async () => {
    const site = new Site(world, "kept");
    await site.create();
    await eventually(() => expect(site.weight).toBe(16));
    await eventually(async () => expect(await scrape()).toContain('name="kept"'));
    await site.delete();
    await eventually(async () => expect(await scrape()).not.toContain('name="kept"'));
    expect(site.weight).toBe(16);
  });

  test.concurrent("does nothing while it is suspended or paused", async () => {
    const site = new Site(world, "stopped");
    await site.create({ suspend: true });
    await eventually(async () => expect(await site.condition("Paused")).toMatchObject({ status: "True" }));
    expect((await site.get()).status?.actualValue).toBe(1);
    expect(site.written).toEqual([]);
    await site.patch({ spec: { suspend: false }, metadata: { annotations: { "evenkeel.io/paused": "true" } } });
    await eventually(async () =>
      expect(await site.condition("Paused")).toMatchObject({ message: expect.stringContaining("annotation") }),
    );
    expect(site.written).toEqual([]);
    await site.patch({ metadata: { annotations: { "evenkeel.io/paused": null } } });
    await eventually(() => expect(site.weight).toBe(16));
  });

  test.concurrent(
    "neither restores a weight nor releases the object while the original runs, which may write the same record",
    async () => {
      await using world = await World.start();
      await world.create("checkout", { onDelete: "revert" });
      const service = world.serve();
      await eventually(() => expect(world.weight()).toBe(16));
      const renewTime = new Date().toISOString().replace("Z", "000Z");
      await world.kube.resource(leases).create({
        metadata: { namespace: "default", name: "e7eaa5de.ch1aki.github.io" },
        spec: { holderIdentity: "pod-1", leaseDurationSeconds: 600, renewTime },
      });
      await eventually(async () => {
        const ready = (await world.get("checkout")).status?.conditions?.find(({ type }) => type === "Ready");
        expect(ready).toMatchObject({ status: "False", reason: "OriginalRuns" });
      }, 25_000);
      await world.kube.resource(rebalances).delete({ namespace: "default", name: "checkout" });
      await eventually(async () => {
        const { conditions = [] } = (await world.get("checkout")).status ?? {};
        const pending = conditions.find(({ type }) => type === "RevertPending");
        expect(pending).toMatchObject({ status: "True", reason: "OriginalRuns" });
      });
      expect((await world.get("checkout")).metadata.finalizers).toEqual(["evenkeel.io/revert-weight"]);
      expect(world.weight()).toBe(16);
      expect(service.lines).toContainEqual(
        expect.objectContaining({ level: "warn", lease: expect.stringContaining("pod-1") }),
      );
      await world.kube.resource(leases).delete({ namespace: "default", name: "e7eaa5de.ch1aki.github.io" });
      const isGone = () => expect(world.get("checkout")).rejects.toMatchObject({ code: "EK_KUBE_NOT_FOUND" });
      await eventually(isGone, 25_000);
      expect(world.weight()).toBe(1);
    },
  );

  test.concurrent("exports no value of a Rebalance after it has lost the Lease", async () => {
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
});
