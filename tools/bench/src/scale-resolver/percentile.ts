/** The value that a `part` of all does not exceed, such as 0.99. */
export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? NaN;
}
