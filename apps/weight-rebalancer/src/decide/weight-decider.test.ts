import { describe, expect, test } from "@jest/globals";
import { measured, record, type SeedChanges, unmeasured } from "../testing/seed-snapshot.ts";
import { decided, decisionTable, figures, kept, secondsAgo } from "../testing/decision-table.ts";
import type { TargetReading } from "./snapshot.ts";

/** A backend of a Gateway API route, which takes more than a record of Route 53 does. */
function backend(weight: number | null, changes: Partial<TargetReading> = {}): TargetReading {
  return record(weight, { target: "httpRoute shop rule 0 backend aws", maximum: 1_000_000, timeToLive: 0, ...changes });
}

describe("following the load", () => {
  decisionTable([
    ["3000 against 1000 with base 8 gives 16", {}, "raise", "TargetTracking", 8, 16],
    ["half the target gives 0", { metrics: [measured("500")] }, "lower", "TargetTracking", 8, 0],
    ["a weight that is right stays", { targets: [record(16)] }, "hold", "InStep", 16, 16],
    ["a negative metric gives 0", { metrics: [measured("-5")] }, "lower", "TargetTracking", 8, 0],
    ["Prometheus' own notation is read", { metrics: [measured("3e+03")] }, "raise", "TargetTracking", 8, 16],
    [
      "a hair above the target asks for 1",
      { metrics: [measured("1000.0000000000000000001")] },
      "lower",
      "TargetTracking",
      8,
      1,
    ],
    ["a base of 0 asks for nothing", { policy: { baseValue: 0 } }, "lower", "TargetTracking", 8, 0],
    [
      "a base that bears 3000 at weight 8 means 6000 in all",
      { policy: { scope: "base" } },
      "raise",
      "TargetTracking",
      8,
      40,
    ],
    [
      "a base that bears its target keeps the weight",
      { policy: { scope: "base" }, metrics: [measured("1000")], targets: [record(16)] },
      "hold",
      "InStep",
      16,
      16,
    ],
    [
      "a base of weight 0 that is measured alone asks for nothing",
      { policy: { scope: "base", baseValue: 0 } },
      "lower",
      "TargetTracking",
      8,
      0,
    ],
    [
      "the average is followed, not the peak",
      { policy: { smoothing: 60_000 }, memory: { smoothed: { value: 1000, at: secondsAgo(60) } } },
      "raise",
      "TargetTracking",
      8,
      11,
    ],
  ]);

  test.each<[string, SeedChanges, number[]]>([
    ["the metric, its ratio to the target and both weights", {}, [3000, 3, 1000, 8, 16]],
    ["the weight that stays", { targets: [record(16)] }, [3000, 3, 1000, 16]],
    ["the total that the base's metric means", { policy: { scope: "base" } }, [3000, 6000, 6, 1000, 8, 40]],
    ["the step that limits it", { policy: { maxStepUp: 4 } }, [3000, 3, 1000, 16, 4, 8, 12]],
    ["the maximum that limits it", { policy: { maximum: 12 } }, [3000, 3, 1000, 16, 12, 8, 12]],
    [
      "the moving average",
      { policy: { smoothing: 60_000 }, memory: { smoothed: { value: 1000, at: secondsAgo(60) } } },
      [3000, 2264.24, 2.26424, 1000, 8, 11],
    ],
    [
      "the load of the base that is compared with the target, where it is within the tolerance",
      { policy: { tolerance: 0.03 }, metrics: [measured("3254")], ...kept(18) },
      [3254, 3.254, 1000, 1001.23, 3, 1000, 18],
    ],
  ])("has %s in its message", (_what, world, numbers) => {
    expect(figures(decided(world).message)).toEqual(numbers);
  });

  test("names the object and hands the dry run on", () => {
    expect(decided({ dryRun: true })).toMatchObject({
      object: { kind: "Rebalance", namespace: "default", name: "aws-env" },
      action: "raise",
      after: 16,
      dryRun: true,
    });
    expect(decided({}).dryRun).toBe(false);
  });
});

describe("what stands in the way", () => {
  decisionTable([
    [
      "a pause holds whatever the load is",
      { blocked: { reason: "Paused", message: "spec.suspend is set" } },
      "hold",
      "Paused",
      8,
      8,
    ],
    [
      "a pause holds even a weight outside its bounds",
      { blocked: { reason: "Paused", message: "spec.suspend is set" }, policy: { minimum: 20 } },
      "hold",
      "Paused",
      8,
      8,
    ],
    [
      "the original still runs",
      { blocked: { reason: "OriginalRuns", message: "the original leads" } },
      "hold",
      "OriginalRuns",
      8,
      8,
    ],
    [
      "a pause comes before a target that cannot be read",
      { blocked: { reason: "Paused", message: "spec.suspend is set" }, targets: [record(null)] },
      "hold",
      "Paused",
      null,
      null,
    ],
    ["no target can be read", { targets: [record(null)] }, "hold", "TargetUnknown", null, null],
    ["there is no target", { targets: [] }, "hold", "TargetUnknown", null, null],
    [
      "an unknown target comes before an unknown metric",
      { targets: [record(null)], metrics: [unmeasured("NoData", "no samples")] },
      "hold",
      "TargetUnknown",
      null,
      null,
    ],
  ]);

  test("says which target and why", () => {
    const { message } = decided({ targets: [record(null)] });
    for (const value of ["route53 Z1/example.com A aws", "Rate exceeded"]) expect(message).toContain(value);
  });
});

describe("a change by another client", () => {
  const moved = { targets: [record(3)], memory: { desired: 16 } };
  decisionTable([
    ["is set back", moved, "raise", "ExternalChange", 3, 16],
    [
      "is set back when it raised",
      { targets: [record(99)], memory: { desired: 16 } },
      "lower",
      "ExternalChange",
      99,
      16,
    ],
    [
      "is set back though our own next change would have to wait",
      {
        ...moved,
        policy: { cooldownUp: 60_000, settle: 60_000 },
        memory: { desired: 12, changedAt: secondsAgo(1), raisedAt: secondsAgo(1) },
      },
      "raise",
      "ExternalChange",
      3,
      12,
    ],
    [
      "is set back though the base would bear it",
      { targets: [record(15)], memory: { desired: 16 }, policy: { tolerance: 0.2 } },
      "raise",
      "ExternalChange",
      15,
      16,
    ],
    [
      "is overtaken when the load asks for another weight anyway",
      { targets: [record(3)], memory: { desired: 8 } },
      "raise",
      "TargetTracking",
      3,
      16,
    ],
    ["is left where the policy yields", { ...moved, onExternalChange: "yield" }, "hold", "ExternalChange", 3, 3],
    [
      "is left as long as spec stays the same",
      { ...moved, onExternalChange: "yield", memory: { desired: 16, yieldedAt: 1 } },
      "hold",
      "ExternalChange",
      3,
      3,
    ],
    [
      "is no longer left once spec is another",
      {
        ...moved,
        onExternalChange: "yield",
        memory: { desired: 16, yieldedAt: 1 },
        rebalance: { namespace: "default", name: "aws-env", generation: 2 },
      },
      "raise",
      "ExternalChange",
      3,
      16,
    ],
    [
      "is over when the record is back at what we wrote",
      { onExternalChange: "yield", targets: [record(4)], memory: { desired: 4, yieldedAt: 1 } },
      "raise",
      "TargetTracking",
      4,
      16,
    ],
    [
      "is left though the metric is lost",
      { ...moved, onExternalChange: "yield", metrics: [unmeasured("NoData", "no samples")] },
      "hold",
      "ExternalChange",
      3,
      3,
    ],
    [
      "is not set back while the metric is lost",
      { ...moved, metrics: [unmeasured("NoData", "no samples")] },
      "hold",
      "NoData",
      3,
      3,
    ],
    [
      "is not computed from a record with a pending change",
      { onExternalChange: "yield", targets: [record(3, { pending: true })], memory: { desired: 16 } },
      "hold",
      "InStep",
      16,
      16,
    ],
    [
      "is not taken from a weight that the record's range cut off",
      {
        onExternalChange: "yield",
        metrics: [measured("1e6")],
        targets: [record(255), backend(7992)],
        memory: { desired: 7992 },
      },
      "hold",
      "InStep",
      7992,
      7992,
    ],
    [
      "is not seen while our own last weight is not known",
      { onExternalChange: "yield", targets: [record(3)] },
      "raise",
      "TargetTracking",
      3,
      16,
    ],
  ]);

  test("is told with both weights", () => {
    const [enforced, yielded] = [decided(moved), decided({ ...moved, onExternalChange: "yield" })];
    for (const { message } of [enforced, yielded]) expect(message).toContain("route53 Z1/example.com A aws");
    expect(figures(enforced.message).slice(-4)).toEqual([3, 16, 3, 16]);
    expect(figures(yielded.message).slice(-3)).toEqual([3, 16, 3]);
  });
});

describe("several targets", () => {
  decisionTable([
    [
      "each is clamped to its own range",
      { metrics: [measured("1e6")], targets: [record(8), backend(8)] },
      "raise",
      "TargetTracking",
      8,
      7992,
    ],
    [
      "one that cannot be read does not keep the others",
      { targets: [record(null), backend(8)] },
      "raise",
      "TargetTracking",
      8,
      16,
    ],
    ["one that lags behind is brought up", { targets: [record(16), backend(8)] }, "raise", "TargetTracking", 8, 16],
    [
      "one that lags behind what we wrote is brought up",
      { targets: [record(16), backend(8)], memory: { desired: 16 } },
      "raise",
      "ExternalChange",
      8,
      16,
    ],
    ["all in step are left", { targets: [record(16), backend(16)], memory: { desired: 16 } }, "hold", "InStep", 16, 16],
    [
      "at most the maximum of all targets",
      { policy: { maximum: 500 }, metrics: [measured("1e6")], targets: [record(8)] },
      "raise",
      "Maximum",
      8,
      255,
    ],
  ]);
});

describe("all weights 0", () => {
  const alone = [{ name: "base", weight: 0 }];
  decisionTable([
    [
      "is not brought about",
      { metrics: [measured("0")], targets: [record(8, { others: alone })] },
      "hold",
      "AllZero",
      8,
      8,
    ],
    [
      "is not brought about where there is no other at all",
      { metrics: [measured("0")], targets: [record(8, { others: [] })] },
      "hold",
      "AllZero",
      8,
      8,
    ],
    [
      "is not brought about on one of two targets",
      { metrics: [measured("0")], targets: [record(8), backend(8, { others: alone })] },
      "hold",
      "AllZero",
      8,
      8,
    ],
    [
      "is told where it is so already",
      { metrics: [measured("0")], targets: [record(0, { others: alone })] },
      "hold",
      "AllZero",
      0,
      0,
    ],
    ["is left by raising", { targets: [record(0, { others: alone })] }, "raise", "TargetTracking", 0, 16],
    ["is no matter while another has weight", { metrics: [measured("0")] }, "lower", "TargetTracking", 8, 0],
  ]);
});

describe("near enough", () => {
  const policy = { tolerance: 0.1 };
  decisionTable([
    [
      "a base at 1099.9 of 1000 is left",
      { policy, metrics: [measured("2199.9")], ...kept(8) },
      "hold",
      "WithinTolerance",
      8,
      8,
    ],
    [
      "a base at exactly a tenth above is left",
      { policy, metrics: [measured("2200")], ...kept(8) },
      "hold",
      "WithinTolerance",
      8,
      8,
    ],
    [
      "a base just over a tenth above is relieved",
      { policy, metrics: [measured("2200.1")], ...kept(8) },
      "raise",
      "TargetTracking",
      8,
      10,
    ],
    [
      "a base at exactly a tenth below is left",
      { policy, metrics: [measured("1800")], ...kept(8) },
      "hold",
      "WithinTolerance",
      8,
      8,
    ],
    [
      "a base just over a tenth below gets more",
      { policy, metrics: [measured("1799.9")], ...kept(8) },
      "lower",
      "TargetTracking",
      8,
      7,
    ],
    [
      "bounds hold all the same",
      { policy: { tolerance: 0.1, minimum: 9 }, metrics: [measured("2000")], ...kept(8) },
      "raise",
      "Minimum",
      8,
      9,
    ],
    [
      "a maximum holds all the same",
      { policy: { tolerance: 0.1, maximum: 7 }, metrics: [measured("2000")], ...kept(8) },
      "lower",
      "Maximum",
      8,
      7,
    ],
    [
      "no weight to restore is not within tolerance",
      { policy, metrics: [measured("100")], ...kept(0) },
      "hold",
      "InStep",
      0,
      0,
    ],
  ]);
});
