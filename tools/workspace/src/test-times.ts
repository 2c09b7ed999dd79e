import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "./projects.ts";
import type { JestReport } from "./test-report.ts";

/** Seconds of file time that a suite may take, by target and project; `each service` is for apps that are not named. */
export type Budgets = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** How many of the slowest files are listed. */
const SLOWEST = 10;

export function readBudgets(): Budgets {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../budgets.json"), "utf8")) as Budgets;
}

/** One project's files of one target. */
export interface SuiteTimes {
  readonly project: string;
  readonly target: string;
  readonly files: readonly { readonly name: string; readonly seconds: number }[];
  /** In sum over all files, which is more than the wall time where files run side by side. */
  readonly seconds: number;
  readonly budget: number | undefined;
  /** The report is of an earlier run, and so are its times. */
  readonly cached: boolean;
}

/** Seconds that a project's files of one target may take in sum; undefined if there is no limit. */
export function budgetOf(
  { name, layer }: Pick<Project, "name" | "layer">,
  target: string,
  budgets: Budgets,
): number | undefined {
  return budgets[target]?.[name] ?? (layer === "app" ? budgets[target]?.["each service"] : undefined);
}

/**
 * The times in a report. `began` is when this run did, in milliseconds since the epoch: an older report comes from the
 * cache.
 */
export function suiteTimes(
  { name, folder, layer }: Pick<Project, "name" | "folder" | "layer">,
  target: string,
  report: JestReport,
  { budgets, began }: { readonly budgets: Budgets; readonly began: number },
): SuiteTimes {
  const files = report.testResults.map(({ name: path, startTime, endTime }) => ({
    // A cached report may be of another clone.
    name: path.slice(path.lastIndexOf(`/${folder}/`) + 1),
    seconds: Math.max(0, endTime - startTime) / 1000,
  }));
  return {
    ...{ project: name, target, files },
    seconds: files.reduce((sum, { seconds }) => sum + seconds, 0),
    budget: budgetOf({ name, layer }, target, budgets),
    cached: report.startTime < began,
  };
}

/** The table that closes a run, and the slowest files. */
export function timeTable(suites: readonly SuiteTimes[]): readonly string[] {
  const rows = suites.map((suite) => [
    `${suite.project} (${suite.target})`,
    String(suite.files.length),
    suite.seconds.toFixed(1),
    suite.budget === undefined ? "" : String(suite.budget),
    [isOver(suite) ? "OVER BUDGET" : "", suite.cached ? "cached" : ""].filter((note) => note !== "").join(", "),
  ]);
  const files = suites
    .flatMap((suite) => suite.files)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST);
  return [
    ...columns([["project", "files", "seconds", "budget", ""], ...rows]),
    "",
    "slowest files",
    ...files.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`),
  ];
}

function isOver({ seconds, budget }: SuiteTimes): boolean {
  return budget !== undefined && seconds > budget;
}

/** The first column to the left, numbers to the right. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const width = (index: number) => Math.max(...rows.map((row) => (row[index] ?? "").length));
  const pad = (cell: string, index: number) =>
    index === 0 ? cell.padEnd(width(0)) : index === 4 ? cell : cell.padStart(width(index));
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}
