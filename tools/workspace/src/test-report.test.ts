import { expect, test } from "@jest/globals";
import { add, closingLine, type JestReport, nothing, tally } from "./test-report.ts";

const report = (
  passed: number,
  failed: number,
  skipped: number,
  results: JestReport["testResults"] = [],
): JestReport => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: skipped,
  numTodoTests: 0,
  startTime: 0,
  testResults: results,
});

test("sums projects into the closing line", () => {
  const sum = [tally("a", report(3, 0, 1)), tally("b", report(4, 2, 0))].reduce(add, nothing);
  expect(closingLine(sum)).toBe("7 passed, 2 failed, 1 skipped");
});

test("counts a project without a report as a failure", () => {
  expect(tally("a", undefined)).toMatchObject({ failed: 1, remarks: ["FAILED   a: no report was written"] });
});

test("counts a file that could not run as a failure", () => {
  const broken = {
    name: "x.test.ts",
    status: "failed",
    message: "SyntaxError",
    startTime: 0,
    endTime: 0,
    assertionResults: [],
  };
  expect(tally("a", report(0, 0, 0, [broken]))).toMatchObject({
    failed: 1,
    remarks: ["FAILED   a: x.test.ts did not run", "           SyntaxError"],
  });
});

test("names what failed and what was skipped", () => {
  const results = [
    {
      name: "x.test.ts",
      status: "failed",
      message: "",
      startTime: 0,
      endTime: 0,
      assertionResults: [
        { fullName: "floats", status: "passed" },
        { fullName: "sinks", status: "failed", failureMessages: ["\u001b[31mError: a leak\u001b[39m\n\n    at hull"] },
        { fullName: "flies (needs wings)", status: "pending" },
      ],
    },
  ];
  expect(tally("boat", report(1, 1, 1, results)).remarks).toEqual([
    "FAILED   boat: sinks",
    "           Error: a leak",
    "               at hull",
    "skipped  boat: flies (needs wings)",
  ]);
});
