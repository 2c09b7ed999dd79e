/** The input of the original's rule. */
export interface OriginalInput {
  readonly metric: number;
  readonly target: number;
  readonly base: number;
  readonly minimum: number;
}

/**
 * The original rebalancer's arithmetic, for comparison: doubles, no upper bound, and a NaN or an infinity that becomes
 * the least 64-bit integer, as Go's conversion makes it on amd64, which the minimum then replaces.
 */
export function originalWeight({ metric, target, base, minimum }: OriginalInput): number {
  const excess = metric / target - 1;
  // Go's math.Max returns NaN for NaN, as Math.max does.
  const weight = Math.ceil(base * Math.max(0, excess));
  const converted = Number.isFinite(weight) ? weight : -(2 ** 63);
  return Math.max(converted, minimum);
}
