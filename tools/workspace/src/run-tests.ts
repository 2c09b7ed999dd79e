import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Project, readProjects, readText, workspaceRoot } from "./projects.ts";
import { add, closingLine, type JestReport, nothing, tally } from "./test-report.ts";
import { budgetOf, readBudgets, suiteTimes, timeTable } from "./test-times.ts";

export interface RunOptions {
  /** Runs again what has not changed since it passed. */
  readonly fresh?: boolean;
}

/**
 * Runs the given nx targets one after the other and closes with their times and the sum over all projects that have
 * them. Returns the exit code.
 */
export function runTests(targets: readonly string[], { fresh = false }: RunOptions = {}): number {
  const began = Date.now();
  const suites = readProjects().flatMap((project) =>
    project.targets.filter((target) => targets.includes(target)).map((target) => ({ ...project, target })),
  );
  const reportFile = (folder: string, target: string) => join(folder, "reports", `${target}.json`);
  // A report from an earlier run must not stand in for one that this run fails to write; nx restores cached ones.
  for (const { folder, target } of suites) rmSync(join(workspaceRoot, reportFile(folder, target)), { force: true });

  const budgets = readBudgets();
  let broken = false;
  for (const target of targets) {
    const isLarge = (suite: Project) => target === "e2e" || budgetOf(suite, target, budgets) !== undefined;
    const projects = suites.filter((suite) => suite.target === target);
    const groups = [
      // A suite with a budget keeps two cores busy. Beside another one its tests would take longer than they need.
      { parallel: "1", names: projects.filter(isLarge).map(({ name }) => name) },
      { parallel: "2", names: projects.filter((suite) => !isLarge(suite)).map(({ name }) => name) },
    ];
    for (const { parallel, names } of groups.filter((group) => group.names.length > 0)) {
      const args = ["run-many", "--target", target, "--projects", names.join(","), "--parallel", parallel];
      if (fresh) args.push("--skip-nx-cache");
      const run = spawnSync("nx", [...args, "--output-style", "static"], { cwd: workspaceRoot, stdio: "inherit" });
      broken = run.status !== 0 || broken;
    }
  }

  const reports = suites.map((suite) => {
    const text = readText(reportFile(suite.folder, suite.target));
    return { ...suite, report: text === undefined ? undefined : (JSON.parse(text) as JestReport) };
  });
  const times = reports.flatMap(({ report, ...suite }) =>
    report === undefined ? [] : [suiteTimes(suite, suite.target, report, { budgets, began })],
  );
  const sum = reports.map(({ name, target, report }) => tally(`${name} (${target})`, report)).reduce(add, nothing);
  console.log(["", ...timeTable(times), "", ...sum.remarks].join("\n"));
  if (broken && sum.failed === 0) console.log("FAILED   nx reports a failure that no test accounts for; see above");
  console.log(closingLine(sum));
  return broken || sum.failed > 0 || sum.passed === 0 ? 1 : 0;
}
