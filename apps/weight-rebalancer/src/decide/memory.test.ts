import { describe, expect, test } from "@jest/globals";
import { nextMemory } from "./memory.ts";
import { NO_MEMORY } from "./snapshot.ts";
import { measured, NOON, record, type SeedChanges, seedSnapshot, unmeasured } from "../testing/seed-snapshot.ts";
import { weightDecider } from "./weight-decider.ts";

const noon = Date.parse(NOON);

function remembered(changes: SeedChanges, carriedOut = true) {
  const snapshot = seedSnapshot(changes);
  const failed = carriedOut ? [] : snapshot.targets.map(({ target }) => target);
  return nextMemory(snapshot, weightDecider.decide(snapshot), failed);
}

describe("what is remembered", () => {
  test("a rise that was carried out is the weight, a change and a rise", () => {
    const expected = { ...NO_MEMORY, desired: 16, changedAt: noon, raisedAt: noon, yieldedAt: 1 };
    expect(remembered({})).toEqual(expected);
  });

  test("a fall that was carried out is a change and no rise", () => {
    const memory = { desired: 8, changedAt: 1, raisedAt: 1 };
    expect(remembered({ metrics: [measured("1500")], memory })).toEqual({
      ...NO_MEMORY,
      desired: 4,
      changedAt: noon,
      raisedAt: 1,
      yieldedAt: 1,
    });
  });

  test("a change that failed leaves the last weight unknown, since some of it may have happened", () => {
    const memory = { desired: 8, changedAt: 1, raisedAt: 1 };
    expect(remembered({ memory }, false)).toEqual({ ...NO_MEMORY, desired: null, changedAt: 1, raisedAt: 1 });
  });

  test("a target of several that refuses a change is remembered, and the pace is that of the others", () => {
    const refusing = record(8, { target: "route53 Z1/example.com A refusing" });
    const failed = [refusing.target];
    const first = seedSnapshot({ memory: { desired: 8, changedAt: 1, raisedAt: 1 }, targets: [record(8), refusing] });
    const memory = nextMemory(first, weightDecider.decide(first), failed);
    expect(memory).toEqual({
      ...{ smoothed: null, desired: 16, changedAt: noon, raisedAt: noon, yieldedAt: 1 },
      unwritten: failed,
    });

    const at = "2026-11-16T12:01:00.000Z";
    const retried = seedSnapshot({ at, memory, targets: [record(16), refusing], onExternalChange: "yield" });
    const again = weightDecider.decide(retried);
    expect(again).toMatchObject({ action: "raise", reason: "TargetTracking", before: 8, after: 16 });
    expect(nextMemory(retried, again, failed)).toEqual(memory);

    const cooldown = { cooldownUp: 30_000, maxStepUp: 4 };
    const metrics = [measured("5000")];
    const later = seedSnapshot({ at, memory, metrics, policy: cooldown, targets: [record(16), refusing] });
    expect(weightDecider.decide(later)).toMatchObject({ action: "raise", reason: "StepLimit", before: 16, after: 20 });
    expect(nextMemory(retried, { ...again, action: "hold", reason: "InStep" }, []).unwritten).toEqual(failed);
    const accepted = seedSnapshot({ at, memory, targets: [record(16), { ...refusing, weight: 16 }] });
    expect(nextMemory(accepted, weightDecider.decide(accepted), []).unwritten).toEqual([]);
  });

  test("a dry run changes nothing", () => {
    const memory = { ...NO_MEMORY, desired: 8, changedAt: 1, raisedAt: 1, yieldedAt: 1 };
    expect(remembered({ dryRun: true, memory }, false)).toEqual(memory);
  });

  test("a weight that was right already is taken for ours, so that a later change by others is seen", () => {
    expect(remembered({ targets: [record(16)] })).toEqual({ ...NO_MEMORY, desired: 16, yieldedAt: 1 });
  });

  test("a weight that is near enough is too, so that an edit within the tolerance is restored and named", () => {
    const policy = { tolerance: 0.1 };
    const memory = remembered({ targets: [record(15)], policy });
    expect(memory).toEqual({ ...NO_MEMORY, desired: 15 });
    const verdict = weightDecider.decide(seedSnapshot({ targets: [record(16)], policy, memory }));
    expect(verdict).toMatchObject({ action: "lower", reason: "ExternalChange", before: 16, after: 15 });
  });

  test("an edit is named even if the load asks for another weight than the last", () => {
    const snapshot = seedSnapshot({ targets: [record(3)], memory: { desired: 8 } });
    const { reason, message } = weightDecider.decide(snapshot);
    expect(reason).toBe("TargetTracking");
    expect(message).toMatch(/^Another client set \S+ \S+ A aws to 3 instead of 8; .* becomes 16$/);
  });

  test("a gap changes nothing", () => {
    const past = { desired: 8, changedAt: 1, raisedAt: 1, yieldedAt: 1, unwritten: [] };
    const memory = { smoothed: { value: 2000, at: 1 }, ...past };
    const metrics = [unmeasured("NoData", "no samples")];
    expect(remembered({ metrics, memory, policy: { smoothing: 60_000 } })).toEqual(memory);
  });

  test("the generation is that of the last reconcile with every target in step", () => {
    const second = { namespace: "default", name: "aws-env", generation: 2 };
    const memory = { desired: 16, yieldedAt: 1 };
    const yieldedAt = (targets: SeedChanges["targets"]) =>
      remembered({ rebalance: second, onExternalChange: "yield", targets: targets ?? [], memory, dryRun: true })
        .yieldedAt;
    expect(yieldedAt([record(16)])).toBe(2);
    expect(yieldedAt([record(3)])).toBe(1);
    expect(yieldedAt([record(3, { pending: true })])).toBe(2);
    expect(yieldedAt([record(16), record(3)])).toBe(1);
    expect(yieldedAt([record(16), record(null)])).toBe(1);
    expect(yieldedAt([record(null)])).toBe(1);
  });

  test("giving way is remembered with the generation, and lasts until that is another", () => {
    const yielding = { onExternalChange: "yield", targets: [record(3)] } as const;
    const memory = remembered({ ...yielding, memory: { desired: 16 } });
    expect(memory).toEqual({ ...NO_MEMORY, desired: 16, yieldedAt: 1 });
    const decided = (generation: number) =>
      weightDecider.decide(
        seedSnapshot({ ...yielding, memory, rebalance: { namespace: "default", name: "aws-env", generation } }),
      );
    expect(decided(1)).toMatchObject({ action: "hold", reason: "ExternalChange" });
    expect(decided(2)).toMatchObject({ action: "raise", after: 16 });
  });

  test("a target that spec has come to name gets its weight and does not count as a change by another client", () => {
    const edited = {
      rebalance: { namespace: "default", name: "aws-env", generation: 2 },
      onExternalChange: "yield",
      targets: [record(16), record(3)],
    } as const;
    const memory = remembered({ targets: [record(16)], memory: { desired: 16 } });
    const snapshot = seedSnapshot({ ...edited, memory });
    const verdict = weightDecider.decide(snapshot);
    expect(verdict).toMatchObject({ action: "raise", after: 16 });
    const after = nextMemory(snapshot, verdict, []);
    expect(after.yieldedAt).toBe(2);
    expect(weightDecider.decide(seedSnapshot({ ...edited, memory: after }))).toMatchObject({
      action: "hold",
      reason: "ExternalChange",
    });
  });

  test("times in the future, from a clock that was put back, become now", () => {
    const memory = { desired: 16, changedAt: noon + 3_600_000, raisedAt: noon + 3_600_000 };
    expect(remembered({ targets: [record(16)], memory })).toMatchObject({ changedAt: noon, raisedAt: noon });
  });

  test("the average takes in what was measured, for a total and for a base that has settled", () => {
    const smoothed = { value: 1000, at: noon - 60_000 };
    const expected = 1000 * Math.exp(-1) + 3000 * (1 - Math.exp(-1));
    const total = remembered({ policy: { smoothing: 60_000 }, memory: { smoothed } });
    expect(total.smoothed?.value).toBeCloseTo(expected, 9);
    expect(total.smoothed?.at).toBe(noon);
    const base = {
      policy: { smoothing: 60_000, scope: "base" },
      metrics: [measured("1500")],
      memory: { smoothed },
    } as const;
    expect(remembered(base).smoothed?.value).toBeCloseTo(expected, 9);
  });

  test("the average leaves out a base's load while a change settles or its weight is unknown", () => {
    const smoothed = { value: 1000, at: noon - 60_000 };
    const policy = { smoothing: 60_000, scope: "base" } as const;
    expect(remembered({ policy, memory: { smoothed, changedAt: noon - 1000 } }).smoothed).toEqual(smoothed);
    expect(remembered({ policy, memory: { smoothed }, targets: [record(null)] }).smoothed).toEqual(smoothed);
  });

  test("an average of less than any double below zero is a plain 0, as it is after a way through JSON", () => {
    expect(
      remembered({ policy: { smoothing: 60_000, scope: "base" }, metrics: [measured("-1e-330")] }).smoothed?.value,
    ).toBe(0);
  });

  test("without smoothing there is no average to write down each time", () => {
    expect(remembered({}).smoothed).toBeNull();
  });
});
