import { describe, expect, test } from "@jest/globals";
import type { JestReport } from "./test-report.ts";
import { suiteTimes, timeTable } from "./test-times.ts";

const BEGAN = 1_000_000;
const budgets = { integration: { "each service": 180, heavy: 300 }, e2e: { "real-node": 240 } };

function report(files: Readonly<Record<string, number>>, startTime = BEGAN + 5): JestReport {
  const counts = { numPassedTests: 1, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 };
  const testResults = Object.entries(files).map(([name, seconds]) => ({
    ...{ name, status: "passed", message: "", assertionResults: [] },
    ...{ startTime: BEGAN, endTime: BEGAN + seconds * 1000 },
  }));
  return { ...counts, startTime, testResults };
}

const app = (name: string) => ({ name, folder: `apps/${name}`, layer: "app" });
const times = (name: string, target: string, given: JestReport) =>
  suiteTimes(app(name), target, given, { budgets, began: BEGAN });

describe("the times of a suite", () => {
  test("are the sum over its files, which are named from the workspace's root whatever clone they ran in", () => {
    const files = { "/elsewhere/apps/boat/test/a.test.ts": 2, "/elsewhere/apps/boat/test/b.test.ts": 3.5 };
    expect(times("boat", "integration", report(files))).toMatchObject({
      seconds: 5.5,
      files: [
        { name: "apps/boat/test/a.test.ts", seconds: 2 },
        { name: "apps/boat/test/b.test.ts", seconds: 3.5 },
      ],
      budget: 180,
      cached: false,
    });
  });

  test.each([
    ["a service that is not named", app("boat"), "integration", 180],
    ["a service that is named", app("heavy"), "integration", 300],
    ["a tool that is named", { name: "real-node", folder: "tools/real-node", layer: "tool" }, "e2e", 240],
    ["a tool that is not named", { name: "charts", folder: "tools/charts", layer: "tool" }, "integration", undefined],
    ["unit tests", app("boat"), "test", undefined],
  ])("have the budget of %s", (_, project, target, budget) => {
    expect(suiteTimes(project, target, report({}), { budgets, began: BEGAN }).budget).toBe(budget);
  });

  test("are known to be of an earlier run", () => {
    expect(times("boat", "integration", report({}, BEGAN - 1)).cached).toBe(true);
  });
});

describe("a run", () => {
  const long = (seconds: number, startTime?: number) => [
    times("boat", "integration", report({ "/w/apps/boat/test/a.test.ts": seconds }, startTime)),
  ];

  test("shows every suite, marks what is over budget or cached, and lists the ten slowest files", () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`/w/apps/heavy/f${index}.ts`, index]));
    const lines = timeTable([...long(181, BEGAN - 1), times("heavy", "integration", report(many))]);
    expect(lines.slice(0, 3)).toEqual([
      "project              files  seconds  budget",
      "boat (integration)       1    181.0     180  OVER BUDGET, cached",
      "heavy (integration)     12     66.0     300",
    ]);
    expect(lines.slice(5)).toHaveLength(10);
    expect(lines[5]).toBe("   181.0 s  apps/boat/test/a.test.ts");
    expect(lines.at(-1)).toBe("     3.0 s  apps/heavy/f3.ts");
  });
});
