import { describe, expect, test } from "@jest/globals";
import { originalWeight } from "../backtest/original-rule.ts";
import { measured, record, type SeedChanges, seedSnapshot, unmeasured } from "../testing/seed-snapshot.ts";
import { decided, kept } from "../testing/decision-table.ts";
import { nextMemory } from "./memory.ts";
import type { Memory, WeightSnapshot } from "./snapshot.ts";
import { NO_MEMORY } from "./snapshot.ts";
import { weightDecider } from "./weight-decider.ts";

/** The original's answer in the same world, as far as its rule goes. */
function original({
  metric,
  target = 1000,
  base = 8,
  minimum = 0,
}: {
  metric: number;
  target?: number;
  base?: number;
  minimum?: number;
}) {
  return originalWeight({ metric, target, base, minimum });
}

/**
 * Defects of the original rebalancer that are decided here; those that a running service shows are in `test`. Each test
 * shows the original's answer beside ours.
 */
describe("the original's defect", () => {
  test("2, that a lost metric drains the target: NaN is no number, and the weight stays", () => {
    expect(original({ metric: NaN })).toBe(0);
    for (const value of ["NaN", "+Inf", "-Inf"]) {
      expect(decided({ metrics: [measured(value)], ...kept(16) })).toMatchObject({
        action: "hold",
        reason: "NotANumber",
        after: 16,
      });
    }
    expect(decided({ metrics: [unmeasured("NotANumber", "scalar() of two series")], ...kept(16) })).toMatchObject({
      action: "hold",
      after: 16,
    });
  });

  test("2, that an infinite metric drains the target just when the load is greatest", () => {
    expect(original({ metric: Infinity, minimum: 2 })).toBe(2);
    expect(decided({ metrics: [measured("+Inf")], policy: { minimum: 2 }, ...kept(16) })).toMatchObject({
      action: "hold",
      after: 16,
    });
  });

  test("3, that doubles round up by one: 110 against 100 with base 10 is 1", () => {
    expect(original({ metric: 110, target: 100, base: 10 })).toBe(2);
    expect(decided({ policy: { baseValue: 10, targetValue: 100 }, metrics: [measured("110")] }).after).toBe(1);
  });

  test("3, that doubles round up by one: no point of a grid is wrong here, dozens are there", () => {
    let [ours, theirs] = [0, 0];
    for (let base = 1; base <= 10; base += 1) {
      for (let target = 10; target <= 100; target += 10) {
        for (let metric = target; metric <= 150; metric += 1) {
          const excess = base * (metric - target);
          const whole = (excess - (excess % target)) / target + (excess % target > 0 ? 1 : 0);
          if (originalWeight({ metric, target, base, minimum: 0 }) !== whole) theirs += 1;
          const policy = { baseValue: base, targetValue: target };
          const wide = [record(0, { maximum: 1_000_000 })];
          if (decided({ policy, metrics: [measured(String(metric))], targets: wide }).after !== whole) ours += 1;
        }
      }
    }
    expect(theirs).toBeGreaterThan(24);
    expect(ours).toBe(0);
  });

  test("4, that a weight above 255 is asked for, refused, and the record stuck at peak load", () => {
    expect(original({ metric: 50_000 })).toBe(392);
    expect(decided({ metrics: [measured("50000")], ...kept(16) })).toMatchObject({
      action: "raise",
      reason: "Maximum",
      after: 255,
    });
  });

  test("5, that a metric of the base alone swings between 0 and 16 for ever", () => {
    const swing: number[] = [];
    for (let round = 0, weight = 0; round < 6; round += 1) {
      weight = original({ metric: (3000 * 8) / (8 + weight) });
      swing.push(weight);
    }
    expect(swing).toEqual([16, 0, 16, 0, 16, 0]);
    expect(closedLoop({ policy: { scope: "base" } }, 6)).toEqual([16, 16, 16, 16, 16, 16]);
  });

  test("5, that noise moves the weight each time: a tolerance and an average leave it", () => {
    const noise = [2000, 2090, 1930, 2060, 1950, 2040];
    const theirs = noise.map((metric) => original({ metric }));
    expect(new Set(theirs).size).toBeGreaterThan(1);
    const policy = { tolerance: 0.1, smoothing: 120_000 };
    const ours = closedLoop({ policy }, noise.length, (round) => noise[round] ?? NaN, 8);
    expect(ours).toEqual([8, 8, 8, 8, 8, 8]);
  });

  test("5, that nothing bounds a jump: a step limit and a cooldown do", () => {
    expect(original({ metric: 20_000 })).toBe(152);
    expect(decided({ metrics: [measured("20000")], policy: { maxStepUp: 20 }, ...kept(0) }).after).toBe(20);
    expect(closedLoop({ policy: { maxStepUp: 20, cooldownUp: 120_000 } }, 5, () => 20_000)).toEqual([
      20, 20, 40, 40, 60,
    ]);
  });

  test("10, that a window over midnight never opens", () => {
    const scheduled = [{ startTime: "22:00", endTime: "02:00", value: 30, days: [] }];
    for (const at of ["2026-11-16T23:00:00Z", "2026-11-17T01:00:00Z"]) {
      expect(decided({ at, policy: { scheduled } })).toMatchObject({ action: "raise", reason: "Schedule", after: 30 });
    }
  });

  test("10, that a window opens by the clock of the machine: here it has a time zone", () => {
    const scheduled = [{ startTime: "09:00", endTime: "10:00", value: 30, days: [] }];
    const at = "2026-11-16T00:30:00Z";
    expect(decided({ at, policy: { scheduled, timeZone: "Asia/Tokyo" } }).reason).toBe("Schedule");
    expect(decided({ at, policy: { scheduled, timeZone: "UTC" } }).reason).toBe("TargetTracking");
  });

  test("that disableScaleIn is never read", () => {
    expect(original({ metric: 500 })).toBe(0);
    expect(decided({ metrics: [measured("500")], policy: { disableScaleIn: true }, ...kept(16) })).toMatchObject({
      action: "hold",
      reason: "ScaleInDisabled",
      after: 16,
    });
  });

  test("12, that all weights at 0, meant as none, are served as equal parts", () => {
    expect(original({ metric: 500 })).toBe(0);
    const drained = [record(16, { others: [{ name: "base", weight: 0 }] })];
    expect(decided({ metrics: [measured("500")], targets: drained })).toMatchObject({
      action: "hold",
      reason: "AllZero",
      after: 16,
    });
  });
});

/** The weights of a record after each of some rounds a minute apart, in a world where every client follows at once. */
function closedLoop(
  world: SeedChanges,
  rounds: number,
  total: (round: number) => number = () => 3000,
  first = 0,
): readonly number[] {
  const weights: number[] = [];
  let weight = first;
  let memory: Memory = { ...NO_MEMORY, desired: first };
  for (let round = 0; round < rounds; round += 1) {
    const seen = world.policy?.scope === "base" ? (total(round) * 8) / (8 + weight) : total(round);
    const snapshot: WeightSnapshot = seedSnapshot({
      ...world,
      at: new Date(Date.UTC(2026, 10, 16, 12, round)).toISOString(),
      metrics: [measured(String(seen))],
      targets: [record(weight)],
      memory,
    });
    const verdict = weightDecider.decide(snapshot);
    memory = nextMemory(snapshot, verdict, []);
    weight = verdict.after ?? weight;
    weights.push(weight);
  }
  return weights;
}
