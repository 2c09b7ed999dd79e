import { expect, test } from "@jest/globals";
import { trimDecider } from "./trim.ts";

const tank = { at: "2026-01-01T00:00:00.000Z", tank: "fore", target: 50, tolerance: 5 };

test.each([
  ["fills when the level is low", 40, "fill", "BelowTarget", 50],
  ["empties when the level is high", 60, "empty", "AboveTarget", 50],
  ["holds at the edge of the tolerance", 45, "hold", "WithinTolerance", 45],
  ["holds when the level is unknown", null, "hold", "NoData", null],
  ["acts on an empty tank, which is not an unknown one", 0, "fill", "BelowTarget", 50],
])("%s", (_name, level, action, reason, after) => {
  expect(trimDecider.decide({ ...tank, level })).toMatchObject({ action, reason, before: level, after });
});
