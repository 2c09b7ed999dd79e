import { describe, expect, test } from "@jest/globals";
import { measured, NOON, record, seedSnapshot } from "../testing/seed-snapshot.ts";
import { decided, decisionTable, figures, kept, secondsAgo } from "../testing/decision-table.ts";
import { nextMemory } from "./memory.ts";
import { type Memory, NO_MEMORY } from "./snapshot.ts";
import { weightDecider } from "./weight-decider.ts";

const low = [measured("500")];
const minute = 60_000;

describe("bounds", () => {
  decisionTable([
    ["the minimum holds", { policy: { minimum: 3 }, metrics: low }, "lower", "Minimum", 8, 3],
    ["the maximum holds", { policy: { maximum: 12 } }, "raise", "Maximum", 8, 12],
    ["what the record takes holds", { metrics: [measured("1e9")] }, "raise", "Maximum", 8, 255],
    ["at the minimum it says so", { policy: { minimum: 3 }, metrics: low, ...kept(3) }, "hold", "Minimum", 3, 3],
    ["at the maximum it says so", { metrics: [measured("1e9")], ...kept(255) }, "hold", "Maximum", 255, 255],
    [
      "a load that asks for the very maximum is followed",
      { policy: { maximum: 16 }, ...kept(16) },
      "hold",
      "InStep",
      16,
      16,
    ],
    ["the maximum wins over the minimum", { policy: { minimum: 20, maximum: 10 } }, "raise", "Maximum", 8, 10],
    [
      "an open window raises",
      { policy: { scheduled: [{ startTime: "11:00", endTime: "13:00", value: 30, days: [] }] } },
      "raise",
      "Schedule",
      8,
      30,
    ],
    [
      "a window below the minimum is no reason",
      { policy: { minimum: 30, scheduled: [{ startTime: "11:00", endTime: "13:00", value: 20, days: [] }] } },
      "raise",
      "Minimum",
      8,
      30,
    ],
    [
      "the load goes beyond a window",
      { policy: { scheduled: [{ startTime: "11:00", endTime: "13:00", value: 10, days: [] }] } },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
    [
      "a weight below the minimum is mended at once",
      {
        policy: { minimum: 10, cooldownUp: minute, settle: minute, maxStepUp: 1 },
        metrics: low,
        ...kept(2, { changedAt: secondsAgo(1), raisedAt: secondsAgo(1) }),
      },
      "raise",
      "Minimum",
      2,
      10,
    ],
    [
      "a weight above the maximum is mended at once, even where nothing may be lowered",
      {
        policy: { maximum: 10, cooldownDown: minute, settle: minute, disableScaleIn: true },
        metrics: low,
        ...kept(16, { changedAt: secondsAgo(1) }),
      },
      "lower",
      "Maximum",
      16,
      10,
    ],
    [
      "a weight below the minimum is mended while a base settles",
      { policy: { minimum: 10, scope: "base" }, ...kept(2, { changedAt: secondsAgo(1) }) },
      "raise",
      "Minimum",
      2,
      10,
    ],
    [
      "from the mended weight on the pace counts",
      { policy: { minimum: 10, maxStepUp: 4 }, ...kept(2) },
      "raise",
      "StepLimit",
      2,
      14,
    ],
  ]);
});

describe("pace", () => {
  decisionTable([
    [
      "disableScaleIn keeps what it has",
      { policy: { disableScaleIn: true }, metrics: low, ...kept(8) },
      "hold",
      "ScaleInDisabled",
      8,
      8,
    ],
    [
      "disableScaleIn does not hinder a rise",
      { policy: { disableScaleIn: true }, ...kept(8) },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
    ["a rise of one step", { policy: { maxStepUp: 3 }, ...kept(8) }, "raise", "StepLimit", 8, 11],
    ["a fall of one step", { policy: { maxStepDown: 3 }, metrics: low, ...kept(8) }, "lower", "StepLimit", 8, 5],
    [
      "a step as long as the way is no limit",
      { policy: { maxStepUp: 8 }, ...kept(8) },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
    [
      "a rise waits for the last rise",
      { policy: { cooldownUp: minute }, ...kept(8, { raisedAt: secondsAgo(59) }) },
      "hold",
      "Cooldown",
      8,
      8,
    ],
    [
      "a rise does not wait for longer",
      { policy: { cooldownUp: minute }, ...kept(8, { raisedAt: secondsAgo(60) }) },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
    [
      "a rise does not wait for the last fall",
      { policy: { cooldownUp: minute, cooldownDown: minute }, ...kept(8, { changedAt: secondsAgo(1) }) },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
    [
      "a fall waits for the last change",
      { policy: { cooldownDown: minute }, metrics: low, ...kept(8, { changedAt: secondsAgo(59) }) },
      "hold",
      "Cooldown",
      8,
      8,
    ],
    [
      "a fall does not wait for longer",
      { policy: { cooldownDown: minute }, metrics: low, ...kept(8, { changedAt: secondsAgo(60) }) },
      "lower",
      "TargetTracking",
      8,
      0,
    ],
    [
      "a weight in step has nothing to wait for",
      { policy: { cooldownUp: minute }, ...kept(16, { raisedAt: secondsAgo(1) }) },
      "hold",
      "InStep",
      16,
      16,
    ],
  ]);

  test("says how long", () => {
    const { message } = decided({ policy: { cooldownUp: 90_000 }, ...kept(8, { raisedAt: secondsAgo(30) }) });
    expect(figures(message)).toEqual([3000, 3, 1000, 16, 30, 90, 8]);
  });
});

describe("settling", () => {
  const base = { scope: "base" } as const;
  decisionTable([
    [
      "a base waits for the record's TTL",
      { policy: base, ...kept(8, { changedAt: secondsAgo(59) }) },
      "hold",
      "Settling",
      8,
      8,
    ],
    [
      "a base does not wait for longer",
      { policy: base, ...kept(8, { changedAt: secondsAgo(60) }) },
      "raise",
      "TargetTracking",
      8,
      40,
    ],
    [
      "a base waits for the longest TTL",
      {
        policy: base,
        targets: [record(8), record(8, { timeToLive: 300_000 })],
        memory: { desired: 8, changedAt: secondsAgo(60) },
      },
      "hold",
      "Settling",
      8,
      8,
    ],
    [
      "a base waits while a change is on its way",
      { policy: base, targets: [record(8, { pending: true })], memory: { desired: 8 } },
      "hold",
      "Settling",
      8,
      8,
    ],
    ["a total does not wait", { ...kept(8, { changedAt: secondsAgo(1) }) }, "raise", "TargetTracking", 8, 16],
    [
      "a total does not wait for a change on its way",
      { targets: [record(8, { pending: true })], memory: { desired: 8 } },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
    [
      "a settle of its own counts for a total too",
      { policy: { settle: minute }, ...kept(8, { changedAt: secondsAgo(59) }) },
      "hold",
      "Settling",
      8,
      8,
    ],
    [
      "a settle of 0 does not wait",
      { policy: { scope: "base", settle: 0 }, ...kept(8, { changedAt: secondsAgo(1) }) },
      "raise",
      "TargetTracking",
      8,
      40,
    ],
    ["a first change has nothing to wait for", { policy: base, ...kept(8) }, "raise", "TargetTracking", 8, 40],
  ]);

  test("says how long", () => {
    const settling = decided({ policy: base, ...kept(8, { changedAt: secondsAgo(20) }) });
    expect(figures(settling.message)).toEqual([20, 60, 8]);
    const pending = decided({ policy: base, targets: [record(8, { pending: true })] });
    expect(figures(pending.message)).toEqual([8]);
  });
});

describe("a clock that jumps", () => {
  const noon = Date.parse(NOON);
  const hour = 3_600_000;
  const policy = { cooldownUp: minute, cooldownDown: minute, settle: minute };

  decisionTable([
    [
      "back by an hour waits, as if the change were of this moment",
      { policy, ...kept(8, { changedAt: noon + hour, raisedAt: noon + hour }) },
      "hold",
      "Settling",
      8,
      8,
    ],
    [
      "ahead by an hour lets one change through",
      { policy, ...kept(8, { changedAt: noon - hour, raisedAt: noon - hour }) },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
  ]);

  /** Minutes on our own count at which the weight rose, with a load that always asks for more than one step. */
  function rises(clock: (minute: number) => number): readonly number[] {
    let memory: Memory = { ...NO_MEMORY, desired: 0 };
    let weight = 0;
    const risen: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const snapshot = seedSnapshot({
        at: new Date(noon + clock(round) * minute).toISOString(),
        policy: { maxStepUp: 1, cooldownUp: 5 * minute },
        metrics: [measured("20000")],
        targets: [record(weight)],
        memory,
      });
      const verdict = weightDecider.decide(snapshot);
      memory = nextMemory(snapshot, verdict, []);
      if (verdict.action === "raise") risen.push(round);
      weight = verdict.after ?? weight;
    }
    return risen;
  }

  test("neither freezes the weight nor lets it run", () => {
    expect(rises((round) => round)).toEqual([0, 5, 10, 15]);
    expect(rises((round) => (round < 7 ? round : round - 60))).toEqual([0, 5, 12, 17]);
    expect(rises((round) => (round < 7 ? round : round + 60))).toEqual([0, 5, 7, 12, 17]);
    expect(rises((round) => (round === 7 ? round + 60 : round))).toEqual([0, 5, 7, 13, 18]);
  });
});
