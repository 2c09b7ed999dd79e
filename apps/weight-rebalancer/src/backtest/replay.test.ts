import { describe, expect, test } from "@jest/globals";
import type { MetricReading } from "../decide/snapshot.ts";
import { measured, NOON, SEED_POLICY, unmeasured } from "../testing/seed-snapshot.ts";
import { replay, type ReplayInput } from "./replay.ts";

const MINUTE = 60_000;

/** A replay of the example's policy on these metrics, one a minute. */
const replayed = (values: readonly (number | MetricReading)[], change: Partial<ReplayInput> = {}) => {
  const policy = { ...SEED_POLICY, ...change.policy };
  const steps = values.map((value, index) => ({
    at: Date.parse(NOON) + index * MINUTE,
    metrics: [typeof value === "number" ? measured(String(value)) : value],
    weight: null,
  }));
  const rebalance = { namespace: "default", name: "aws-env", generation: 1 };
  const range = { minimum: 0, maximum: 255 };
  return replay({ rebalance, combine: "max", range, timeToLive: 0, weight: 0, step: MINUTE, steps, ...change, policy });
};

describe("a replay", () => {
  test("counts changes, overload and time outside the band of a load that triples for three minutes", () => {
    const { policy, original, unknown, points } = replayed([1000, 3000, 3000, 3000, 1000, 1000]);
    // The first minute of three times the load is seen before the weight follows, and the weight is one minute too high
    // after.
    expect(policy).toMatchObject({
      changes: 2,
      overload: MINUTE,
      worst: 3,
      outside: 2 * MINUTE,
      lowest: 0,
      highest: 16,
    });
    expect(policy.excess).toBeCloseTo(2000 / (1000 + 3000 + 1000 + 1000 + 1000 / 3 + 1000));
    expect(original).toEqual(policy);
    expect(unknown).toBe(0);
    expect(points.map((point) => point.policy)).toEqual([0, 16, 16, 16, 0, 0]);
  });

  test("of a policy with a tolerance changes less often than the original's rule", () => {
    const wavy = Array.from({ length: 100 }, (_, index) => 3000 + (index % 2) * 200);
    const { policy, original, band } = replayed(wavy, { policy: { ...SEED_POLICY, tolerance: 0.1 } });
    expect(policy.changes).toBe(0);
    expect(original.changes).toBe(99);
    expect(band).toBe(0.1);
  });

  test("of a metric of the base settles, while the original's rule swings", () => {
    const { policy, original } = replayed(Array<number>(60).fill(3000), {
      policy: { ...SEED_POLICY, scope: "base" },
    });
    expect(policy).toMatchObject({ changes: 0, overload: 0, lowest: 16, highest: 16 });
    expect(original.changes).toBe(60);
    expect(original.overload).toBeGreaterThan(20 * MINUTE);
  });

  test("takes the load of all sites from the weight that was in force", () => {
    const past = replayed([1000], { policy: { ...SEED_POLICY, scope: "base" }, weight: 16 });
    expect(past.points.map(({ total }) => total)).toEqual([3000]);
  });

  test("holds through a gap, which counts as unknown", () => {
    const gap = unmeasured("NoData", "no sample");
    const { policy, unknown, points } = replayed([1000, gap, gap, 3000]);
    expect(points.map(({ total }) => total)).toEqual([1000, null, null, 3000]);
    expect(policy.changes).toBe(1);
    expect(unknown).toBe(2 * MINUTE);
  });

  test("knows that the original drained the target without a number, and kept its weight above 255", () => {
    const { original } = replayed([3000, unmeasured("NotANumber", "NaN"), 3000]);
    expect(original.changes).toBe(2);
    const high = replayed([3000, 50_000, 50_000]);
    expect(high.original.highest).toBe(16);
    expect(high.policy.highest).toBe(255);
  });

  test("lets a weight have effect after the time to live", () => {
    const { policy } = replayed([1000, 3000, 3000, 3000, 3000], { timeToLive: 2 * MINUTE });
    expect(policy).toMatchObject({ changes: 1, overload: 2 * MINUTE });
  });
});
