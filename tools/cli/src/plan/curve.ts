import type { Plan } from "@evenkeel/eviction-planner/plan";

/** One line of the curve. */
export interface CurvePoint {
  readonly evictions: number;
  readonly sigma: number;
  /** The bound for any plan with as many evictions. */
  readonly bound: number;
}

/** Columns of the longest bar. */
const WIDTH = 30;

/** Approximate number of lines of the curve. */
const LINES = 10;

/** The curve in equal steps of a round number of evictions, always with the last. */
export function curvePoints({ curve: { predicted, bound } }: Pick<Plan, "curve">): readonly CurvePoint[] {
  const last = predicted.length - 1;
  const step = roundStep(last / LINES);
  return predicted.flatMap((sigma, evictions) =>
    evictions % step === 0 || evictions === last ? [{ evictions, sigma, bound: bound[evictions] ?? sigma }] : [],
  );
}

/** The least of 1, 2, 5, 10, 20, 50, … that is not below `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, least))));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? power;
}

/** A bar as long as σ, dark up to the bound. */
export function bar({ sigma, bound }: CurvePoint, before: number): string {
  const columns = (value: number): number => (before > 0 ? Math.round((value / before) * WIDTH) : 0);
  const dark = Math.min(columns(bound), columns(sigma));
  return "█".repeat(dark) + "░".repeat(columns(sigma) - dark);
}

/** Share of the possible improvement above which more evictions help little. */
const MOST = 0.8;

export interface Knee {
  readonly evictions: number;
  /** Share of the difference between σ before and the lowest bound. */
  readonly share: number;
}

/**
 * The smallest number of evictions of the plan with 80 % of the possible improvement of any plan. Undefined if the plan
 * does not reach it.
 */
export function kneeOf({ curve: { predicted, bound } }: Pick<Plan, "curve">): Knee | undefined {
  const before = predicted[0] ?? 0;
  const possible = before - (bound.at(-1) ?? before);
  if (possible <= 0) return undefined;
  const evictions = predicted.findIndex((sigma) => before - sigma >= MOST * possible);
  return evictions < 0 ? undefined : { evictions, share: (before - (predicted[evictions] ?? before)) / possible };
}
