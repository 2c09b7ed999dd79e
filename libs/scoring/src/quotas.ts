/** What {@link withQuotas} divides over: whole numbers with `0 ≤ minimum ≤ cap ≤ total`, and weights of at least 0. */
export interface Claim {
  readonly weight: bigint;
  readonly minimum: number;
  readonly cap: number;
}

/**
 * A claim's exact part before rounding: `whole` plus `remainder` of a denominator that all claims of a division share.
 */
export interface Quota {
  whole: number;
  remainder: bigint;
}

/**
 * Divides `total` in exact proportion to the weights, but to none less than its minimum or more than its cap: what a
 * bound cuts off or adds is divided over the others in their proportions. The quotas add up to `total`, or to less
 * where the caps leave no room. A claim of weight 0 has its minimum. The minimums must add up to `total` at most.
 */
export function withQuotas<C extends Claim>(total: number, claims: readonly C[]): (C & Quota)[] {
  const quotas = claims.map((claim): C & Quota => ({ ...claim, whole: claim.minimum, remainder: 0n }));
  let free = quotas.filter(({ weight }) => weight > 0n);
  let rest = quotas.reduce((left, { weight, minimum }) => (weight > 0n ? left : left - minimum), total);
  for (;;) {
    const weights = free.reduce((sum, { weight }) => sum + weight, 0n);
    const frozen = freeze(rest, weights, free);
    if (frozen.size === 0) {
      for (const quota of free) {
        const exact = BigInt(rest) * quota.weight;
        quota.whole = Number(exact / weights);
        quota.remainder = exact % weights;
      }
      return quotas;
    }
    for (const { whole } of frozen) rest -= whole;
    free = free.filter((quota) => !frozen.has(quota));
  }
}

/**
 * Sets those quotas to their bounds that are certain to end there, and returns them; none if `rest` can be divided as
 * it is. Of those that break their caps and those that break their minimums it is the side that does so by more in sum:
 * what it frees or takes moves the others towards their bounds and not away. CSS resolves flexible lengths in this way
 * (css-flexbox-1, 9.7).
 */
function freeze<Q extends Claim & Quota>(rest: number, weights: bigint, free: readonly Q[]): Set<Q> {
  const dividend = BigInt(rest);
  const over: Q[] = [];
  const under: Q[] = [];
  let excess = 0n;
  for (const quota of free) {
    const exact = dividend * quota.weight;
    const cap = quota.cap < rest ? BigInt(quota.cap) * weights : exact;
    const minimum = quota.minimum > 0 ? BigInt(quota.minimum) * weights : 0n;
    if (exact > cap) {
      over.push(quota);
      excess += exact - cap;
      quota.whole = quota.cap;
    } else if (exact < minimum) {
      under.push(quota);
      excess += exact - minimum;
      quota.whole = quota.minimum;
    }
  }
  return new Set(excess > 0n ? over : excess < 0n ? under : [...over, ...under]);
}
