/** One figure of a suite. `bar` is what it must meet, such as `<= 3`, or empty where there is none. */
export interface Result {
  readonly measure: string;
  readonly value: number;
  readonly unit: string;
  readonly bar: string;
  readonly ok: boolean;
}

/** A figure without a bar. */
export function figure(measure: string, value: number, unit: string): Result {
  return { measure, value: rounded(value), unit, bar: "", ok: true };
}

/** A figure that must meet a bar of the form `<= 3` or `>= 5`. A value that is not a number never does. */
export function barred(measure: string, value: number, unit: string, bar: string): Result {
  const [, comparison, limit] = /^(<=|>=) (\d+(?:\.\d+)?)$/.exec(bar) ?? [];
  if (limit === undefined) throw new TypeError(`A bar reads "<= 3" or ">= 3", not "${bar}"`);
  return {
    measure,
    value: rounded(value),
    unit,
    bar,
    ok: comparison === "<=" ? value <= Number(limit) : value >= Number(limit),
  };
}

/** Three significant digits are more than a shared machine can repeat. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** Earlier figures with those that were found now in their places. New ones come last. */
export function updated(earlier: readonly Result[], found: readonly Result[]): readonly Result[] {
  const now = new Map(found.map((result) => [result.measure, result]));
  const known = new Set(earlier.map(({ measure }) => measure));
  return [
    ...earlier.map((result) => now.get(result.measure) ?? result),
    ...found.filter(({ measure }) => !known.has(measure)),
  ];
}

/** An aligned table for the terminal. */
export function resultTable(results: readonly Result[]): string {
  const rows = results.map(({ measure, value, unit, bar, ok }) => [
    measure,
    String(value),
    unit,
    bar,
    ok ? "" : "MISSED",
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
