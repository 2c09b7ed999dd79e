import { defineError } from "@evenkeel/runtime";
import { expect, test } from "@jest/globals";
import { judgeFailure } from "./judge-failure.ts";

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
