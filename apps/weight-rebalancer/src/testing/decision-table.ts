import { expect, test } from "@jest/globals";
import { type WeightAction, weightDecider, type WeightReason, type WeightVerdict } from "../decide/weight-decider.ts";
import { NOON, record, type SeedChanges, seedSnapshot } from "./seed-snapshot.ts";

/** A world and what is decided in it. What the world does not name is as in the original's README. */
export type DecisionCase = readonly [
  sentence: string,
  world: SeedChanges,
  action: WeightAction,
  reason: WeightReason,
  before: number | null,
  after: number | null,
];

export function decided(world: SeedChanges): WeightVerdict {
  return weightDecider.decide(seedSnapshot(world));
}

/** A test of each case, its message included as far as no message may show an unknown as a word. */
export function decisionTable(table: readonly DecisionCase[]): void {
  test.each(table)("%s", (_sentence, world, action, reason, before, after) => {
    const verdict = decided(world);
    expect(verdict).toMatchObject({ action, reason, before, after });
    expect(verdict.message).not.toMatch(/NaN|undefined|null|Infinity|\[object/);
  });
}

/** The numbers in a message, in their order. */
export function figures(message: string): number[] {
  return (message.match(/\d+(\.\d+)?/g) ?? []).map(Number);
}

/** A record with the weight that was last written. */
export function kept(weight: number, memory: SeedChanges["memory"] = {}): Pick<SeedChanges, "targets" | "memory"> {
  return { targets: [record(weight)], memory: { desired: weight, ...memory } };
}

export function secondsAgo(seconds: number): number {
  return Date.parse(NOON) - seconds * 1000;
}
