import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { rebalances } from "../src/rebalance-resource.ts";
import { SteppedService } from "./stepped-service.ts";
import { QUERY, World } from "./world.ts";

const MINUTE = 60_000;
const isChange = ({ method }: IncomingMessage) => method === "POST";

const condition = async (world: World, type: string) =>
  (await world.get("checkout")).status?.conditions?.find((each) => each.type === type);

test("a pause shows within two intervals, although the metric server hangs and the timeout is an hour", async () => {
  await using world = await World.start();
  await using service = await SteppedService.start(world);
  let hung = 0;
  const when = () => ++hung > 0;
  world.prometheus.faults.add({ fault: { kind: "hang" }, when });
  const prometheus = { address: world.prometheus.url, query: QUERY, timeout: 3600 };
  await world.create("checkout", { interval: "1m", metrics: { prometheus } });
  await service.until(() => expect(hung).toBe(1));
  const body = { spec: { suspend: true } };
  await world.kube.resource(rebalances).patch({ namespace: "default", name: "checkout" }, { type: "merge", body });
  // The query in progress and that of the next reconcile.
  const isPaused = async () => expect(await condition(world, "Paused")).toMatchObject({ status: "True" });
  await service.until(isPaused, 2 * MINUTE + 10_000);
});

describe("a reconcile that takes longer than a minute", () => {
  test.concurrent(
    "because the metric server hangs, says so in the status and is followed by the next one in its interval",
    async () => {
      await using world = await World.start();
      await using service = await SteppedService.start(world);
      const prometheus = { address: world.prometheus.url, query: QUERY, timeout: 120, maxAge: "1h" };
      await world.create("checkout", { interval: "10m", metrics: { prometheus } });
      await service.until(async () => expect(await condition(world, "Ready")).toMatchObject({ status: "True" }));

      let hung = 0;
      const when = () => ++hung > 0;
      const restore = world.prometheus.faults.add({ fault: { kind: "hang" }, when });
      await service.until(() => expect(hung).toBe(1), 11 * MINUTE);
      const begun = service.clock.monotonic();
      await service.until(
        async () => expect(await condition(world, "Ready")).toMatchObject({ status: "False" }),
        3 * MINUTE,
      );
      expect(await condition(world, "Ready")).toMatchObject({ reason: "QueryFailed" });
      expect(await condition(world, "MetricsAvailable")).toMatchObject({
        status: "False",
        reason: "QueryFailed",
        message: expect.stringContaining("120 s"),
      });
      expect(service.clock.monotonic() - begun).toBeGreaterThan(MINUTE);

      await service.advance(5 * MINUTE);
      expect(hung).toBe(1);
      await service.until(() => expect(hung).toBe(2), 4 * MINUTE);
      expect(service.failures).toEqual([]);
      restore();
    },
    60_000,
  );

  test.concurrent(
    "because Route 53 answers changes with 503, says so in the status and is followed by the next one in its interval",
    async () => {
      await using world = await World.start();
      await using service = await SteppedService.start(world);
      const prometheus = { address: world.prometheus.url, query: QUERY, maxAge: "1h" };
      await world.create("checkout", { interval: "10m", metrics: { prometheus } });
      await service.until(async () => expect(await condition(world, "Ready")).toMatchObject({ status: "True" }));
      const decisions = service.watched.decided.length;

      world.metric = 5000;
      world.route53.faults.add({ fault: { kind: "status", code: 503 }, when: isChange });
      await service.until(() => expect(service.watched.decided.length).toBe(decisions + 1), 11 * MINUTE);
      await service.until(
        async () => expect(await condition(world, "TargetSynced")).toMatchObject({ status: "False" }),
        3 * MINUTE,
      );
      for (const type of ["Ready", "TargetSynced"])
        expect(await condition(world, type)).toMatchObject({ status: "False", reason: "Route53Unreachable" });

      await service.advance(5 * MINUTE);
      expect(service.watched.decided).toHaveLength(decisions + 1);
      await service.until(() => expect(service.watched.decided.length).toBe(decisions + 2), 5 * MINUTE);
      expect(service.failures).toEqual([]);
    },
    60_000,
  );
});
