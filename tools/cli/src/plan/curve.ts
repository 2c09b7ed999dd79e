import type { Plan } from "@evenkeel/eviction-planner/plan";

/** One line of the curve. */
export interface CurvePoint {
  readonly evictions: number;
  readonly sigma: number;
  /** What no plan with as many evictions can beat. */
  readonly bound: number;
}

/** Columns of the longest bar. */
const WIDTH = 30;

/** Of each power of ten, the steps that are shown. */
const STEPS = [1, 2, 3, 5, 7];

/** The curve at a few numbers of evictions, always with the first and the last. */
export function curvePoints({ curve: { predicted, bound } }: Pick<Plan, "curve">): readonly CurvePoint[] {
  const last = predicted.length - 1;
  return predicted.flatMap((sigma, evictions) => {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, evictions)));
    const isShown = evictions === 0 || evictions === last || STEPS.includes(evictions / power);
    return isShown ? [{ evictions, sigma, bound: bound[evictions] ?? sigma }] : [];
  });
}

/** A bar as long as σ, dark up to the bound. */
export function bar({ sigma, bound }: CurvePoint, before: number): string {
  const columns = (value: number): number => (before > 0 ? Math.round((value / before) * WIDTH) : 0);
  const dark = Math.min(columns(bound), columns(sigma));
  return "█".repeat(dark) + "░".repeat(columns(sigma) - dark);
}

/** Share of what is possible from which more evictions bring little. */
const MOST = 0.8;

export interface Knee {
  readonly evictions: number;
  /** Of the difference between σ before and the bound for as many evictions as may help. */
  readonly share: number;
}

/**
 * The fewest evictions of the plan that bring 80 % of what any plan could bring, however many evictions it has. Undefined
 * if the plan does not bring that much.
 */
export function kneeOf({ curve: { predicted, bound } }: Pick<Plan, "curve">): Knee | undefined {
  const before = predicted[0] ?? 0;
  const possible = before - (bound.at(-1) ?? before);
  if (possible <= 0) return undefined;
  const evictions = predicted.findIndex((sigma) => before - sigma >= MOST * possible);
  return evictions < 0 ? undefined : { evictions, share: (before - (predicted[evictions] ?? before)) / possible };
}
