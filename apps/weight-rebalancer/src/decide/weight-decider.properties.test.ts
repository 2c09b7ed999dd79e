import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { measured, NOON, record, unmeasured } from "../testing/seed-snapshot.ts";
import { decided } from "../testing/decision-table.ts";
import { nextMemory } from "./memory.ts";
import { METRIC_FAULTS, type Memory, type PolicySnapshot, type WeightSnapshot } from "./snapshot.ts";
import { readableTargets, within } from "./targets.ts";
import { WEIGHT_ACTIONS, WEIGHT_REASONS, weightDecider } from "./weight-decider.ts";

const noon = Date.parse(NOON);
const weight = fc.oneof(fc.nat(300), fc.constantFrom(0, 255));
const span = fc.constantFrom(0, 30_000, 60_000, 600_000);
const moment = fc.option(fc.integer({ min: -7_200_000, max: 7_200_000 }).map((offset) => noon + offset));
const time = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => String(part).padStart(2, "0")).join(":"));

const policy: fc.Arbitrary<PolicySnapshot> = fc.record({
  targetValue: fc.integer({ min: 1, max: 10_000 }),
  baseValue: fc.nat(300),
  minimum: fc.nat(100),
  maximum: fc.option(fc.nat(300)),
  scope: fc.constantFrom("total", "base"),
  tolerance: fc.constantFrom(0, 0.05, 0.1, 1),
  disableScaleIn: fc.boolean(),
  smoothing: span,
  maxStepUp: fc.option(fc.integer({ min: 1, max: 50 })),
  maxStepDown: fc.option(fc.integer({ min: 1, max: 50 })),
  cooldownUp: span,
  cooldownDown: span,
  settle: fc.option(span),
  onNoData: fc.constantFrom("hold", "minimum", "value"),
  noDataValue: fc.option(fc.nat(300)),
  scheduled: fc.array(
    fc.record({
      startTime: time,
      endTime: time,
      value: fc.nat(300),
      days: fc.subarray(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const),
    }),
    { maxLength: 3 },
  ),
  timeZone: fc.constantFrom("UTC", "Asia/Tokyo", "America/New_York"),
});

const memory: fc.Arbitrary<Memory> = fc.record({
  smoothed: fc.option(
    fc.record({
      value: fc.integer({ min: 0, max: 100_000 }),
      at: fc.integer({ min: noon - 7_200_000, max: noon + 7_200_000 }),
    }),
  ),
  desired: fc.option(weight),
  changedAt: moment,
  raisedAt: moment,
  yieldedAt: fc.option(fc.nat(2)),
  unwritten: fc.constantFrom([], [record(0).target]),
});

const target = fc
  .record({
    weight: fc.option(weight, { freq: 10 }),
    maximum: fc.constantFrom(255, 1_000_000),
    others: fc.array(fc.record({ name: fc.constant("base"), weight: fc.nat(20) }), { maxLength: 2 }),
    timeToLive: fc.option(span),
    pending: fc.boolean(),
  })
  .map(({ weight: now, ...changes }) => record(now === null ? null : Math.min(now, changes.maximum), changes));

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: 0, max: 100_000 }),
  fc.nat(1_000_000).map((thousandths) => thousandths / 1000),
);
const known = number.map((value) => measured(String(value)));
const lost = fc.constantFrom(...METRIC_FAULTS).map((fault) => unmeasured(fault, "of no use"));

function world(metric: fc.Arbitrary<WeightSnapshot["metrics"][number]>): fc.Arbitrary<WeightSnapshot> {
  return fc.record({
    at: fc.constant(NOON),
    rebalance: fc.record({ namespace: fc.constant("default"), name: fc.constant("aws-env"), generation: fc.nat(2) }),
    policy,
    dryRun: fc.boolean(),
    blocked: fc.option(fc.constant({ reason: "Paused" as const, message: "spec.suspend is set" }), { freq: 10 }),
    onExternalChange: fc.constantFrom("enforce", "yield"),
    combine: fc.constantFrom("max", "min", "avg"),
    metrics: fc.array(metric, { minLength: 1, maxLength: 3 }),
    targets: fc.array(target, { minLength: 1, maxLength: 3 }),
    memory,
  });
}

const anyWorld = world(fc.oneof({ weight: 4, arbitrary: known }, { weight: 1, arbitrary: lost }));
const runs = { numRuns: 500 };

/** Numbers in a text that have more than six digits, zeros at either end left aside. */
const longNumbers = (text: string) =>
  [...text.matchAll(/\d[\d.]*/g)].filter(([number]) => number.replace(".", "").replace(/^0+|0+$/g, "").length > 6);

describe("whatever the world is", () => {
  test("no number in a message has more than six digits", () => {
    fc.assert(
      fc.property(anyWorld, (snapshot) => {
        expect(longNumbers(weightDecider.decide(snapshot).message)).toEqual([]);
      }),
      runs,
    );
  });

  test("a change is a whole weight between the minimum and the maximum, and within what each target takes", () => {
    fc.assert(
      fc.property(anyWorld, (snapshot) => {
        const { action, after } = weightDecider.decide(snapshot);
        if (action === "hold") return;
        const { minimum, maximum } = snapshot.policy;
        const most = Math.min(maximum ?? Infinity, Math.max(...snapshot.targets.map((reading) => reading.maximum)));
        expect(Number.isSafeInteger(after)).toBe(true);
        expect(after).toBeLessThanOrEqual(most);
        expect(after).toBeGreaterThanOrEqual(Math.min(minimum, most));
      }),
      runs,
    );
  });

  test("a change moves at least one target, in the direction that it says", () => {
    fc.assert(
      fc.property(anyWorld, (snapshot) => {
        const { action, before, after } = weightDecider.decide(snapshot);
        const readable = readableTargets(snapshot.targets);
        if (action === "hold") {
          expect(after).toBe(before);
          return;
        }
        expect(after).not.toBeNull();
        expect(readable.some((reading) => reading.weight !== within(reading, after ?? NaN))).toBe(true);
        expect(Math.sign((after ?? NaN) - (before ?? NaN))).toBe(action === "raise" ? 1 : -1);
      }),
      runs,
    );
  });

  test("nothing is lowered for want of a metric where the policy is to hold, and only a floor raises", () => {
    fc.assert(
      fc.property(world(lost), (any) => {
        const snapshot = { ...any, policy: { ...any.policy, onNoData: "hold" as const } };
        const { action, reason } = weightDecider.decide(snapshot);
        if (action === "hold") return;
        expect(action).toBe("raise");
        expect(["Schedule", "Minimum", "ExternalChange"]).toContain(reason);
        const { minimum, scheduled } = snapshot.policy;
        const floor = Math.max(minimum, ...scheduled.map(({ value }) => value));
        expect(readableTargets(snapshot.targets).some((reading) => reading.weight < floor)).toBe(true);
      }),
      runs,
    );
  });

  test("without a floor nothing moves at all for want of a metric where the policy is to hold", () => {
    fc.assert(
      fc.property(world(lost), (any) => {
        const still = { onNoData: "hold", minimum: 0, scheduled: [] } as const;
        expect(weightDecider.decide({ ...any, policy: { ...any.policy, ...still } }).action).toBe("hold");
      }),
      runs,
    );
  });

  test("no target is left without any weight above 0", () => {
    fc.assert(
      fc.property(anyWorld, (snapshot) => {
        const { action, after } = weightDecider.decide(snapshot);
        if (action === "hold" || after === null) return;
        for (const reading of readableTargets(snapshot.targets)) {
          const sum = reading.others.reduce((total, other) => total + other.weight, within(reading, after));
          expect(sum).toBeGreaterThan(0);
        }
      }),
      runs,
    );
  });

  test("the answer and the memory are the same twice, and after a way through JSON", () => {
    fc.assert(
      fc.property(anyWorld, fc.boolean(), (snapshot, carriedOut) => {
        const verdict = weightDecider.decide(snapshot);
        const again = JSON.parse(JSON.stringify(snapshot)) as WeightSnapshot;
        expect(weightDecider.decide(again)).toEqual(verdict);
        const failed = carriedOut ? [] : snapshot.targets.map(({ target }) => target);
        const next = nextMemory(snapshot, verdict, failed);
        expect(nextMemory(again, verdict, failed)).toEqual(next);
        expect(JSON.parse(JSON.stringify(next))).toEqual(next);
      }),
      runs,
    );
  });

  test("the words are of the closed lists, and no unknown shows as a word", () => {
    fc.assert(
      fc.property(anyWorld, (snapshot) => {
        const { action, reason, message } = weightDecider.decide(snapshot);
        expect(WEIGHT_ACTIONS).toContain(action);
        expect(WEIGHT_REASONS).toContain(reason);
        expect(message).not.toMatch(/NaN|undefined|null|Infinity|\[object/);
      }),
      runs,
    );
  });

  test("what is remembered lies never in the future", () => {
    fc.assert(
      fc.property(anyWorld, fc.boolean(), (snapshot, carriedOut) => {
        const failed = carriedOut ? [] : snapshot.targets.map(({ target }) => target);
        const { changedAt, raisedAt } = nextMemory(snapshot, weightDecider.decide(snapshot), failed);
        expect(changedAt ?? noon).toBeLessThanOrEqual(noon);
        expect(raisedAt ?? noon).toBeLessThanOrEqual(noon);
      }),
      runs,
    );
  });
});

describe("a whole load without memory", () => {
  test("never asks for less when it is more", () => {
    fc.assert(
      fc.property(
        fc.nat(255),
        fc.integer({ min: 1, max: 10_000 }),
        weight,
        number,
        number,
        (baseValue, targetValue, now, a, b) => {
          const after = (value: number) =>
            decided({
              policy: { baseValue, targetValue },
              targets: [record(Math.min(now, 255))],
              metrics: [measured(String(value))],
            }).after ?? NaN;
          expect(after(Math.min(a, b))).toBeLessThanOrEqual(after(Math.max(a, b)));
        },
      ),
      runs,
    );
  });

  test("once carried out, is in step", () => {
    fc.assert(
      fc.property(anyWorld, (any) => {
        const pace = { maxStepUp: null, maxStepDown: null, tolerance: 0, smoothing: 0, scope: "total" } as const;
        const snapshot = { ...any, policy: { ...any.policy, ...pace }, dryRun: false };
        const verdict = weightDecider.decide(snapshot);
        const { after } = verdict;
        if (verdict.action === "hold" || after === null) return;
        const next = {
          ...snapshot,
          targets: snapshot.targets.map((reading) =>
            reading.weight === null ? reading : { ...reading, weight: within(reading, after) },
          ),
          memory: nextMemory(snapshot, verdict, []),
        };
        expect(weightDecider.decide(next)).toMatchObject({ action: "hold", after });
      }),
      runs,
    );
  });
});
