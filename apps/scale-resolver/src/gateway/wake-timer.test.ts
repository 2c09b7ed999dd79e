import { beforeEach, describe, expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { FakeClock } from "@evenkeel/runtime/testing";
import { metrics } from "../metrics.ts";
import type { WakeRecord } from "../serve/service-history.ts";
import { WakeTimer } from "./wake-timer.ts";

const KEY = "shop/checkout";

describe("a wake", () => {
  let clock: FakeClock;
  let registry: MetricRegistry;
  let told: WakeRecord[];
  let wakeTimer: WakeTimer;

  beforeEach(() => {
    clock = new FakeClock();
    registry = new MetricRegistry();
    told = [];
    wakeTimer = new WakeTimer({
      clock,
      metrics: registry.register(metrics),
      pending: () => 1,
      tell: (_key, wake) => told.push(wake),
    });
  });

  /** The value of a series of the Service. */
  const sample = async (name: string, phase?: string): Promise<number> => {
    const labels = `namespace="shop",service="checkout"${phase === undefined ? "" : `,phase="${phase}"`}`;
    const line = (await registry.text()).split("\n").find((one) => one.startsWith(`${name}{${labels}} `));
    return Number(line?.split(" ")[1] ?? 0);
  };
  const counted = () => sample("evenkeel_resolver_wakes_total");
  const took = (phase: string) => sample("evenkeel_resolver_wake_seconds_sum", phase);

  test("is counted once, and its parts are timed", async () => {
    wakeTimer.begin(KEY);
    await clock.advance(40);
    wakeTimer.scaled(KEY, "woken");
    await clock.advance(2000);
    wakeTimer.ready(KEY);
    await clock.advance(10);
    wakeTimer.answered(KEY);
    expect([await counted(), await took("scale"), await took("start")]).toEqual([1, 0.04, 2]);
    expect(told.at(-1)).toMatchObject({ scaleMs: 40, startMs: 2000, connectMs: 10 });
    expect(wakeTimer.lastMilliseconds(KEY)).toBe(2040);
  });

  test("with a first call that fails is counted once, and its scale phase lasts until the success", async () => {
    wakeTimer.begin(KEY);
    await clock.advance(40);
    wakeTimer.scaled(KEY, "failed");
    expect([await counted(), await took("scale")]).toEqual([0, 0]);
    await clock.advance(460);
    wakeTimer.scaled(KEY, "woken");
    await clock.advance(1000);
    wakeTimer.ready(KEY);
    expect([await counted(), await took("scale"), await took("start")]).toEqual([1, 0.5, 1]);
  });

  test("that finds the workload awake is timed and not counted", async () => {
    wakeTimer.begin(KEY);
    await clock.advance(40);
    wakeTimer.scaled(KEY, "awake");
    expect([await counted(), await took("scale")]).toEqual([0, 0.04]);
  });

  test("whose client disconnects during the scale call is counted and not timed", async () => {
    wakeTimer.begin(KEY);
    wakeTimer.abandon(KEY);
    await clock.advance(40);
    wakeTimer.scaled(KEY, "woken");
    wakeTimer.ready(KEY);
    expect([await counted(), await took("scale"), await took("start")]).toEqual([1, 0, 0]);
  });

  test("without waiting requests is not recorded", async () => {
    wakeTimer.begin(KEY);
    wakeTimer.abandon(KEY);
    wakeTimer.ready(KEY);
    expect(await took("start")).toBe(0);
  });

  describe("after one that ended without a response", () => {
    const wake = async () => {
      wakeTimer.begin(KEY);
      wakeTimer.scaled(KEY, "woken");
      await clock.advance(1000);
      wakeTimer.ready(KEY);
    };

    test("is counted and timed from its own beginning", async () => {
      await wake();
      wakeTimer.unanswered(KEY);
      await clock.advance(3_600_000);
      await wake();
      await clock.advance(10);
      wakeTimer.answered(KEY);
      expect([await counted(), await took("start")]).toEqual([2, 2]);
      expect(told.at(-1)).toMatchObject({
        startedAt: Date.parse("2026-01-01T01:00:01Z"),
        startMs: 1000,
        connectMs: 10,
      });
    });

    test("is measured too if a request of the one before is still in flight", async () => {
      await wake();
      await clock.advance(3_600_000);
      await wake();
      expect([await counted(), await took("start")]).toEqual([2, 2]);
    });
  });

  test("is not recorded once its Service is forgotten", async () => {
    wakeTimer.begin(KEY);
    await clock.advance(1000);
    wakeTimer.ready(KEY);
    expect(wakeTimer.lastMilliseconds(KEY)).toBe(1000);
    wakeTimer.forget(KEY);
    expect(wakeTimer.lastMilliseconds(KEY)).toBeNull();
  });
});
