import { expect, test } from "@jest/globals";
import { replicasOf } from "./replicas.ts";
import type { ScaleSettings } from "./snapshot.ts";

const scaler = (
  expectedTargets: number | null,
  min: number | null = 1,
  max: number | null = 10,
): ScaleSettings["scaler"] => ({
  ...{ expectedTargets, min, max },
});
const scaled = (targets: number | null, present: number, fewerSince: number | null = null, now = 0) =>
  replicasOf({ present, replicas: 99, scaler: scaler(100) }, targets, fewerSince, now);

test.each([
  ["spec.replicas rules without the scaler", { present: 3, replicas: 5, scaler: null }, 5, null],
  ["zero replicas are a number", { present: 3, replicas: 0, scaler: null }, 0, null],
  ["neither replicas nor scale", { present: 3, replicas: null, scaler: null }, null, "NoReplicas"],
  ["expected targets of 0", { present: 3, replicas: null, scaler: scaler(0) }, null, "NoExpectedTargets"],
  ["no expected targets", { present: 3, replicas: null, scaler: scaler(null) }, null, "NoExpectedTargets"],
  ["negative expected targets", { present: 3, replicas: null, scaler: scaler(-5) }, null, "NoExpectedTargets"],
  ["minimum above maximum", { present: 3, replicas: null, scaler: scaler(100, 5, 4) }, null, "MinimumAboveMaximum"],
  ["neither minimum nor maximum", { present: 0, replicas: null, scaler: scaler(100, null, null) }, 11, null],
  ["more replicas than allowed", { present: 3, replicas: 50_000_000, scaler: null }, null, "TooManyReplicas"],
  [
    "a minimum above what is allowed",
    { present: 3, replicas: null, scaler: scaler(1, 20_000, null) },
    null,
    "TooManyReplicas",
  ],
  [
    "more than allowed by targets",
    { present: 3, replicas: null, scaler: scaler(0.1, 1, null) },
    10_000,
    "TooManyReplicas",
  ],
  ["the maximum", { present: 0, replicas: null, scaler: scaler(100, 1, 4) }, 4, null],
  ["the minimum", { present: 0, replicas: null, scaler: scaler(100, 20, 30) }, 20, null],
] as const)("%s", (_, settings, wanted, fault) => {
  const found = replicasOf(settings, 1050, null, 0);
  expect(found.wanted).toBe(wanted);
  expect(found.fault?.code ?? null).toBe(fault);
});

test("scales up at once", () => {
  expect(scaled(301, 3)).toMatchObject({ wanted: 4, fewerSince: null });
  expect(scaled(900, 3).wanted).toBe(9);
});

test("scales down only after five minutes with targets for 0.8 of one less", () => {
  // Three of four are enough for 300, but not with a fifth to spare.
  expect(scaled(300, 4)).toMatchObject({ wanted: 4, fewerSince: null });
  expect(scaled(240, 4, null, 1000)).toMatchObject({ wanted: 4, fewerSince: 1000 });
  expect(scaled(240, 4, 1000, 300_999)).toMatchObject({ wanted: 4, fewerSince: 1000 });
  expect(scaled(240, 4, 1000, 301_000)).toMatchObject({ wanted: 3, fewerSince: 1000 });
  expect(scaled(241, 4, 1000, 301_000)).toMatchObject({ wanted: 4, fewerSince: null });
});

test("has never fewer while targets are not known, and enough for the known ones", () => {
  const unknown = (present: number, knownTargets = 0) =>
    replicasOf({ present, replicas: null, scaler: scaler(100, 2), knownTargets }, null, 1, 1e9);
  expect(unknown(4)).toEqual({ wanted: 4, fault: null, fewerSince: null });
  expect([unknown(0).wanted, unknown(0, 450).wanted, unknown(20, 450).wanted]).toEqual([2, 5, 20]);
});

test("a clock that jumps back does not scale down early", () => {
  expect(scaled(240, 4, 1_000_000, 0)).toMatchObject({ wanted: 4, fewerSince: 0 });
});
