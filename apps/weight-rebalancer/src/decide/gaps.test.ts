import { describe, expect, test } from "@jest/globals";
import { measured, record, unmeasured } from "../testing/seed-snapshot.ts";
import { decided, decisionTable, type DecisionCase, kept, secondsAgo } from "../testing/decision-table.ts";
import { METRIC_FAULTS } from "./snapshot.ts";

const lost = [unmeasured("NoData", "no samples")];
const noon = [{ startTime: "11:00", endTime: "13:00", value: 30, days: [] }];

describe("without a metric", () => {
  decisionTable(
    METRIC_FAULTS.map((fault): DecisionCase => [
      `${fault} keeps the weight`,
      { metrics: [unmeasured(fault, "of no use")], ...kept(16) },
      "hold",
      fault,
      16,
      16,
    ]),
  );

  decisionTable([
    ["no source at all keeps the weight", { metrics: [], ...kept(16) }, "hold", "NoData", 16, 16],
    [
      "text that is no number keeps the weight",
      { metrics: [measured("NaN")], ...kept(16) },
      "hold",
      "NotANumber",
      16,
      16,
    ],
    ["an infinity keeps the weight", { metrics: [measured("+Inf")], ...kept(16) }, "hold", "NotANumber", 16, 16],
    [
      "a number too great for any server keeps the weight",
      { metrics: [measured("1e999")], ...kept(16) },
      "hold",
      "NotANumber",
      16,
      16,
    ],
    [
      "a hexadecimal number keeps the weight",
      { metrics: [measured("0x10")], ...kept(16) },
      "hold",
      "NotANumber",
      16,
      16,
    ],
    [
      "one lost source of two keeps the weight",
      { metrics: [measured("9000"), ...lost], ...kept(16) },
      "hold",
      "NoData",
      16,
      16,
    ],
    [
      "the minimum is gone to where the policy says so",
      { policy: { onNoData: "minimum", minimum: 3 }, metrics: lost, ...kept(16) },
      "lower",
      "NoData",
      16,
      3,
    ],
    [
      "a fixed weight is gone to where the policy says so",
      { policy: { onNoData: "value", noDataValue: 40 }, metrics: lost, ...kept(16) },
      "raise",
      "NoData",
      16,
      40,
    ],
    [
      "a fixed weight that is not given is to hold",
      { policy: { onNoData: "value" }, metrics: lost, ...kept(16) },
      "hold",
      "NoData",
      16,
      16,
    ],
    [
      "a fixed weight is held within the bounds",
      { policy: { onNoData: "value", noDataValue: 40, maximum: 30 }, metrics: lost, ...kept(16) },
      "raise",
      "Maximum",
      16,
      30,
    ],
    [
      "at the fixed weight the fault stays the reason",
      { policy: { onNoData: "value", noDataValue: 16 }, metrics: lost, ...kept(16) },
      "hold",
      "NoData",
      16,
      16,
    ],
    [
      "the way to the minimum keeps the pace",
      { policy: { onNoData: "minimum", maxStepDown: 4 }, metrics: lost, ...kept(16) },
      "lower",
      "StepLimit",
      16,
      12,
    ],
    [
      "the way to the minimum waits for the cooldown",
      {
        policy: { onNoData: "minimum", cooldownDown: 60_000 },
        metrics: lost,
        ...kept(16, { changedAt: secondsAgo(30) }),
      },
      "hold",
      "NoData",
      16,
      16,
    ],
    [
      "the way to the minimum is barred by disableScaleIn",
      { policy: { onNoData: "minimum", disableScaleIn: true }, metrics: lost, ...kept(16) },
      "hold",
      "NoData",
      16,
      16,
    ],
    [
      "an open window still raises",
      { policy: { scheduled: noon }, metrics: lost, ...kept(16) },
      "raise",
      "Schedule",
      16,
      30,
    ],
    [
      "a weight above an open window stays",
      { policy: { scheduled: noon }, metrics: lost, ...kept(50) },
      "hold",
      "NoData",
      50,
      50,
    ],
    ["a minimum still raises", { policy: { minimum: 20 }, metrics: lost, ...kept(16) }, "raise", "Minimum", 16, 20],
    ["a maximum does not lower", { policy: { maximum: 10 }, metrics: lost, ...kept(16) }, "hold", "NoData", 16, 16],
    [
      "a window beyond the maximum raises to the maximum",
      { policy: { scheduled: noon, maximum: 20 }, metrics: lost, ...kept(16) },
      "raise",
      "Schedule",
      16,
      20,
    ],
    [
      "a target above the maximum beside one below the minimum keeps both",
      { policy: { minimum: 5, maximum: 6 }, metrics: lost, targets: [record(2), record(9)] },
      "hold",
      "NoData",
      2,
      2,
    ],
    [
      "no target is lowered to meet another's floor",
      { policy: { minimum: 5 }, metrics: lost, targets: [record(2), record(9)] },
      "raise",
      "Minimum",
      2,
      9,
    ],
    [
      "a base-only metric that is lost while a change settles is lost",
      { policy: { scope: "base" }, metrics: lost, ...kept(16, { changedAt: secondsAgo(1) }) },
      "hold",
      "NoData",
      16,
      16,
    ],
  ]);

  test("says which source, why, and the weight", () => {
    const metrics = [measured("1"), unmeasured("QueryFailed", "connect ECONNREFUSED", "prometheus http://second:9090")];
    const { message } = decided({ metrics, ...kept(16) });
    for (const value of ["prometheus http://second:9090", "connect ECONNREFUSED", "16"])
      expect(message).toContain(value);
  });
});

describe("several metrics", () => {
  const metrics = [measured("1000"), measured("3000"), measured("2001")];
  decisionTable([
    ["the greatest", { combine: "max", metrics }, "raise", "TargetTracking", 8, 16],
    ["the least", { combine: "min", metrics }, "lower", "TargetTracking", 8, 0],
    ["the mean of 2000 and a third, to the last digit", { combine: "avg", metrics }, "raise", "TargetTracking", 8, 9],
    [
      "a mean of exactly 2000",
      { combine: "avg", metrics: [measured("1000.1"), measured("2999.9")] },
      "hold",
      "InStep",
      8,
      8,
    ],
    [
      "numbers are compared, not their text",
      { combine: "max", metrics: [measured("999"), measured("3e3")] },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
  ]);
});
