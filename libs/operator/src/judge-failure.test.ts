import { defineError } from "@evenkeel/runtime";
import { expect, test } from "@jest/globals";
import { conditionsAfterFailure, judgeFailure } from "./judge-failure.ts";

const Refused = defineError({
  code: "EK_TEST_REFUSED",
  recovery: "retryable",
  message: "{what} was refused",
  remedy: "Grant the right.",
});

test("Ready says what failed, why, and what to do, of the generation that was reconciled", () => {
  const error = new Refused({ what: "the patch" }, { cause: new Error("quota.") });
  expect(judgeFailure(error, 3)).toEqual({
    ...{ type: "Ready", status: "False", reason: "Failed", observedGeneration: 3 },
    message: expect.stringMatching(/the patch was refused: quota\. Grant the right\.$/) as unknown,
  });
});

test("without a remedy it leads to the log", () => {
  expect(judgeFailure("broken", 1).message).toMatch(/broken\. See the log/);
});

test("a failure changes the condition Ready alone, and the same failure again changes nothing", () => {
  const paused = { type: "Paused", status: "False", reason: "NotPaused", message: "" } as const;
  const before = [{ ...paused, lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const failed = conditionsAfterFailure(before, "broken", 2, 0);
  expect(failed).toMatchObject([paused, { type: "Ready", status: "False", reason: "Failed", observedGeneration: 2 }]);
  expect(conditionsAfterFailure(failed, "broken", 2, 60_000)).toBe(failed);
  expect(conditionsAfterFailure(undefined, "broken", 2, 0)).toHaveLength(1);
});
