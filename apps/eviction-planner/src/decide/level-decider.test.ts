import { expect, test } from "@jest/globals";
import { levelDecider } from "./level-decider.ts";

test.each([
  ["holds while the level is unknown", { level: null }, "hold", "NoData", null],
  ["holds a level that is as wanted", { level: 5 }, "hold", "OnTarget", 5],
  ["sets a level that is not as wanted", { level: 7 }, "set", "OffTarget", 5],
  ["holds while paused", { level: 7, paused: true }, "hold", "Paused", 7],
])("%s", (_sentence, change, action, reason, after) => {
  const snapshot = { namespace: "default", name: "a", wanted: 5, paused: false, dryRun: false, ...change };
  expect(levelDecider.decide({ at: "2026-01-01T00:00:00Z", ...snapshot })).toMatchObject({ action, reason, after });
});
