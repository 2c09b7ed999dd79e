import { describe, expect, test } from "@jest/globals";
import { rebalances } from "../src/rebalance-resource.ts";
import { SteppedService } from "./stepped-service.ts";
import { QUERY, World } from "./world.ts";

const MINUTE = 60_000;

/** The fault suite's spec, with an interval and a timeout of more than a minute. */
const slowly = ({ prometheus }: World) => ({
  interval: "5m",
  metrics: { prometheus: { address: prometheus.url, query: QUERY, timeout: 150, maxAge: "2h" } },
});

const condition = async (world: World, type: string) =>
  (await world.get("checkout")).status?.conditions?.find((each) => each.type === type);

/** Every weight that was written was decided, and none twice in a row. */
function everyChangeWasDecided({ route53 }: World, { watched }: SteppedService): void {
  const decided = new Set(watched.decided.flatMap(({ verdict }) => (verdict.action === "hold" ? [] : [verdict.after])));
  const written = route53.journal.map(({ after }) => after?.weight ?? null);
  expect(written.filter((weight) => !decided.has(weight))).toEqual([]);
  expect(written.filter((weight, index) => index > 0 && weight === written[index - 1])).toEqual([]);
}

describe("with an interval and timeouts above a minute, under faults every change was decided, and it recovers alone", () => {
  test.concurrent(
    "when Route 53 throttles for many intervals",
    async () => {
      await using world = await World.start();
      await world.create("checkout", slowly(world));
      await using service = await SteppedService.start(world);
      await service.until(() => expect(world.weight()).toBe(16));
      world.route53.limit({ perSecond: 0.000_001, burst: 1 });
      const { decided } = service.watched;
      for (const metric of [5000, 2000, 7000]) {
        world.metric = metric;
        const count = decided.length;
        await service.until(() => expect(decided.length).toBeGreaterThan(count), 6 * MINUTE);
      }
      await service.until(async () => expect(await condition(world, "Throttled")).toMatchObject({ status: "True" }));
      expect(world.weight()).toBe(16);
      world.metric = 4000;
      world.route53.limit(undefined);
      await service.until(() => expect(world.weight()).toBe(24), 11 * MINUTE);
      everyChangeWasDecided(world, service);
    },
    120_000,
  );

  test.concurrent(
    "when the metric server hangs for one query and answers the next",
    async () => {
      await using world = await World.start();
      await world.create("checkout", slowly(world));
      await using service = await SteppedService.start(world);
      await service.until(() => expect(world.weight()).toBe(16));
      world.metric = 5000;
      const restore = world.prometheus.faults.add({ fault: { kind: "hang" } });
      await service.until(
        async () =>
          expect(await condition(world, "MetricsAvailable")).toMatchObject({ status: "False", reason: "QueryFailed" }),
        9 * MINUTE,
      );
      expect(world.weight()).toBe(16);
      restore();
      await service.until(() => expect(world.weight()).toBe(32), 6 * MINUTE);
      everyChangeWasDecided(world, service);
    },
    120_000,
  );

  test.concurrent(
    "when the object is edited while Route 53 refuses changes",
    async () => {
      await using world = await World.start();
      await world.create("checkout", slowly(world));
      await using service = await SteppedService.start(world);
      await service.until(() => expect(world.weight()).toBe(16));
      const isChange = ({ method }: { method?: string | undefined }) => method === "POST";
      const restore = world.route53.faults.add({ fault: { kind: "status", code: 503 }, when: isChange });
      world.metric = 8000;
      await service.until(() => expect(service.watched.decided.at(-1)?.verdict.after).toBe(56), 6 * MINUTE);
      const body = { spec: { policy: { targettracking: { maximum: 10 } } } };
      await world.kube.resource(rebalances).patch({ namespace: "default", name: "checkout" }, { type: "merge", body });
      await service.until(() => expect(service.watched.decided.at(-1)?.verdict.after).toBe(10), 6 * MINUTE);
      restore();
      await service.until(() => expect(world.weight()).toBe(10), 6 * MINUTE);
      expect(world.route53.journal.map(({ after }) => after?.weight)).not.toContain(56);
    },
    120_000,
  );
});
