import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { type Fault, FaultPlan, startPrometheus } from "@evenkeel/sim";
import { systemClock } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis, RedisServer } from "@evenkeel/state-contract";
import { rebalances } from "../src/rebalance-resource.ts";
import { unexplained, WatchedService } from "./watched-service.ts";
import { World } from "./world.ts";

const INTERVAL = 2000;
const interval = { interval: "2s" };
/** Waits until the service has decided `count` times more. */
async function reconciles({ decided }: WatchedService, count: number): Promise<void> {
  const enough = decided.length + count;
  await eventually(() => decided.length >= enough);
}

const isChange = ({ method }: IncomingMessage) => method === "POST";

/** Every change must be what a snapshot of at most two intervals ago asks for. */
function everyChangeIsExplained(world: World, service: WatchedService): void {
  expect(world.route53.journal.length).toBeGreaterThan(0);
  for (const change of world.route53.journal) {
    expect(unexplained(change, service.decided, 2 * INTERVAL)).toBeUndefined();
    expect(change.after?.weight).toBeGreaterThanOrEqual(0);
    expect(change.after?.weight).toBeLessThanOrEqual(255);
  }
}

const patch = (world: World, body: object) =>
  world.kube.resource(rebalances).patch({ namespace: "default", name: "checkout" }, { type: "merge", body });

describe("under faults every change is what a recent snapshot asks for, and it recovers alone", () => {
  test.concurrent(
    "when Route 53 throttles for many intervals",
    async () => {
      await using world = await World.start();
      await world.create("checkout", interval);
      await using service = new WatchedService(world);
      await eventually(() => expect(world.weight()).toBe(16));
      world.route53.limit({ perSecond: 0.01, burst: 1 });
      for (const metric of [5000, 2000, 7000]) {
        world.metric = metric;
        await reconciles(service, 1);
      }
      await eventually(async () => {
        const { status } = await world.get("checkout");
        expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Throttled", status: "True" }));
      });
      world.metric = 4000;
      world.route53.limit(undefined);
      await eventually(() => expect(world.weight()).toBe(24), 60_000);
      await eventually(async () => {
        const { status } = await world.get("checkout");
        expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Throttled", status: "False" }));
      });
      everyChangeIsExplained(world, service);
    },
    120_000,
  );

  test.concurrent(
    "when Prometheus restarts",
    async () => {
      await using world = await World.start();
      await world.create("checkout", interval);
      await using service = new WatchedService(world);
      await eventually(() => expect(world.weight()).toBe(16));
      const port = Number(new URL(world.prometheus.url).port);
      await world.prometheus.stop();
      await reconciles(service, 2);
      expect(world.weight()).toBe(16);
      const again = await startPrometheus({ port });
      try {
        again.answer("sum(requests)", () => ({ kind: "vector", samples: [{ metric: {}, value: 2000 }] }));
        await eventually(() => expect(world.weight()).toBe(8));
      } finally {
        await again.stop();
      }
      everyChangeIsExplained(world, service);
    },
    60_000,
  );

  test.concurrent(
    "when the object is edited while a batch is on its way",
    async () => {
      await using world = await World.start();
      await world.create("checkout", interval);
      await using service = new WatchedService(world);
      await eventually(() => expect(world.weight()).toBe(16));
      world.route53.faults.add({ fault: { kind: "latency", milliseconds: 1500 }, when: isChange, times: 1 });
      world.metric = 8000;
      await eventually(() => expect(service.decided.at(-1)?.verdict.after).toBe(56));
      await patch(world, { spec: { policy: { targettracking: { maximum: 10 } } } });
      await eventually(() => expect(world.weight()).toBe(10));
      await reconciles(service, 2);
      expect(world.weight()).toBe(10);
      everyChangeIsExplained(world, service);
    },
    60_000,
  );

  test.concurrent(
    "when the wall clock jumps an hour ahead, and back",
    async () => {
      await using world = await World.start();
      const tracking = { targetValue: 1000, baseValue: 8, cooldownUp: "1s", cooldownDown: "1s", smoothing: "1s" };
      await world.create("checkout", { ...interval, policy: { targettracking: tracking } });
      let offset = 0;
      const clock = { ...systemClock, now: () => Date.now() + offset };
      await using service = new WatchedService(world, [], clock);
      await eventually(() => expect(world.weight()).toBe(16));
      for (const [jump, metric, weight] of [
        [3_600_000, 2000, 8],
        [0, 4000, 24],
      ] as const) {
        offset = jump;
        // An hour ahead a sample of now looks an hour old, and is not believed: the weight stays.
        await reconciles(service, 1);
        world.metric = metric;
        if (jump > 0) {
          await reconciles(service, 2);
          expect(world.weight()).toBe(16);
        } else await eventually(() => expect(world.weight()).toBe(weight), 30_000);
      }
      everyChangeIsExplained(world, service);
    },
    60_000,
  );
});

describeRedis("with shared state in Redis", () => {
  test.concurrent(
    "goes on while Redis is dead, and catches up when it is back",
    async () => {
      await using world = await World.start();
      await world.create("checkout", interval);
      await using redis = await RedisServer.start();
      await using service = new WatchedService(world, [`--state=${redis.address}`]);
      await eventually(() => expect(world.weight()).toBe(16));
      await redis.kill();
      world.metric = 2000;
      await eventually(() => expect(world.weight()).toBe(8), 30_000);
      await redis.run();
      world.metric = 4000;
      await eventually(() => expect(world.weight()).toBe(24), 30_000);
      everyChangeIsExplained(world, service);
    },
    90_000,
  );

  test.concurrent(
    "another replica takes over from a leader that is killed in the midst of a batch",
    async () => {
      await using world = await World.start();
      await world.create("checkout", interval);
      await using redis = await RedisServer.start();
      const flags = [`--state=${redis.address}`];
      const first = world.serve(flags);
      await eventually(() => expect(world.weight()).toBe(16));
      const second = world.serve(flags);
      await second.phase("ready");
      const slow = world.route53.faults.add({ fault: { kind: "latency", milliseconds: 1000 }, when: isChange });
      world.metric = 6000;
      await first.line(({ object, after }) => object === "Rebalance/default/checkout" && after === 40);
      first.signal("SIGKILL");
      await first.exit;
      slow();
      world.metric = 3500;
      await eventually(() => expect(world.weight()).toBe(20), 30_000);
      // 16 and 40 are the killed leader's, 20 is its successor's; nothing else was ever asked for.
      const written = world.route53.journal.map(({ after }) => after?.weight);
      expect([16, 40, 20]).toEqual(expect.arrayContaining(written));
      expect(written.at(-1)).toBe(20);
    },
    90_000,
  );
});

test.concurrent.each<[string, Fault]>([
  ["answers 500", { kind: "status", code: 500 }],
  ["hangs", { kind: "hang" }],
])(
  "a webhook for Rebalances that %s makes the object not ready until it answers, and no weight is written",
  async (_what, fault) => {
    const plan = new FaultPlan();
    await using world = await World.start(undefined, { faults: plan.faults });
    const itself = { resource: "rebalances", name: "checkout", subresource: "" };
    const mend = plan.add({ verb: "patch", ...itself, fault });
    await world.create("checkout", { onDelete: "revert" });
    const service = world.serve(["--kube-deadline=1s"]);
    const reported = (condition: string, ready: object) =>
      eventually(async () => {
        const { status } = await world.get("checkout");
        expect(status).toMatchObject({ condition });
        expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", ...ready }));
      }, 30_000);
    const message = expect.stringMatching(/rebalances.*checkout/) as unknown;
    await reported("Error", { status: "False", reason: "Failed", message });
    const metrics = await (await fetch(await service.url("admin", "/metrics"))).text();
    expect(metrics).toContain('rebalancer_error{name="checkout",namespace="default"} 1');
    expect(world.route53.journal).toEqual([]);
    mend();
    await reported("Healty", { status: "True" });
    expect(world.weight()).toBe(16);
  },
  90_000,
);
