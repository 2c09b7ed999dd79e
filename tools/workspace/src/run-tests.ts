import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readProjects, readText, workspaceRoot } from "./projects.ts";
import { add, closingLine, type JestReport, nothing, tally } from "./test-report.ts";

/**
 * Runs the given nx targets one after the other and closes with the sum over all projects that have them. Unit tests may run side
 * by side; what starts real parts runs alone, so that two heavy projects do not starve each other on a small machine.
 */
export function runTests(targets: readonly string[]): number {
  const suites = readProjects().flatMap((project) =>
    project.targets.filter((target) => targets.includes(target)).map((target) => ({ ...project, target })),
  );
  const reportFile = (folder: string, target: string) => join(folder, "reports", `${target}.json`);
  // A report from an earlier run must not stand in for one that this run fails to write; nx puts cached ones back.
  for (const { folder, target } of suites) rmSync(join(workspaceRoot, reportFile(folder, target)), { force: true });

  let broken = false;
  for (const target of targets.filter((name) => suites.some((suite) => suite.target === name))) {
    // Each end-to-end suite has a control plane of its own, which is enough for two cores.
    const parallel = target === "e2e" ? "1" : "2";
    const args = ["run-many", "--target", target, "--parallel", parallel, "--output-style", "static"];
    broken = spawnSync("nx", args, { cwd: workspaceRoot, stdio: "inherit" }).status !== 0 || broken;
  }

  const sum = suites
    .map(({ name, folder, target }) => {
      const text = readText(reportFile(folder, target));
      return tally(`${name} (${target})`, text === undefined ? undefined : (JSON.parse(text) as JestReport));
    })
    .reduce(add, nothing);
  console.log(["", ...sum.remarks].join("\n"));
  if (broken && sum.failed === 0) console.log("FAILED   nx reports a failure that no test accounts for; see above");
  console.log(closingLine(sum));
  return broken || sum.failed > 0 || sum.passed === 0 ? 1 : 0;
}
