import { stripVTControlCharacters } from "node:util";

/** The part of jest's JSON report that is counted. */
export interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  /** In milliseconds since the epoch, as are those of files. */
  readonly startTime: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What a reader must know beyond the numbers: which failed, which were skipped. */
  readonly remarks: readonly string[];
}

export const nothing: Tally = { passed: 0, failed: 0, skipped: 0, remarks: [] };

/**
 * Counts one project's report. A file that could not run counts as one failure, and so does a report that is not there.
 */
export function tally(project: string, report: JestReport | undefined): Tally {
  if (!report) return { ...nothing, failed: 1, remarks: [`FAILED   ${project}: no report was written`] };
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  const cases = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
    remarks: [
      ...broken.flatMap(({ name, message }) => [`FAILED   ${project}: ${name} did not run`, ...opening(message)]),
      ...cases
        .filter(({ status }) => status === "failed")
        .flatMap(({ fullName, failureMessages = [] }) => [
          `FAILED   ${project}: ${fullName}`,
          ...opening(failureMessages.join("\n")),
        ]),
      ...cases
        .filter(({ status }) => status === "pending" || status === "todo")
        .map(({ fullName }) => `skipped  ${project}: ${fullName}`),
    ],
  };
}

const OPENING_LINES = 12;

/** The first lines of a failure's message, without colours: where the log was cut, they still say what went wrong. */
function opening(message: string): readonly string[] {
  const lines = stripVTControlCharacters(message).split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .slice(0, OPENING_LINES)
    .map((line) => `           ${line.trimEnd()}`);
}

export function add(a: Tally, b: Tally): Tally {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    remarks: [...a.remarks, ...b.remarks],
  };
}

/** The line that closes every run. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
