import { barred, figure, type Result } from "../../result.ts";
import type { Plot } from "../../suite.ts";
import type { CaseRuns } from "./case.ts";
import { BUDGETS, type Run } from "./contest.ts";

/**
 * Figures of a case. `mostOfRival` is the highest share of descheduler's evictions that the planner may need for the
 * same σ.
 */
export function caseFigures(
  { name, basis, isEmulated, planner, rivals, bound }: CaseRuns,
  mostOfRival: number,
): readonly Result[] {
  const compared = rivals.map(({ band, run, emulated }) => {
    const { evictions, sigma } = lastOf(run);
    const least = bound.findIndex((value) => value <= sigma);
    return { band, evictions, sigma, emulated, own: evictionsTo(planner, sigma), least };
  });
  const highest = (value: (one: (typeof compared)[number]) => number) => Math.max(...compared.map(value));
  const ofBound = `${name}: planner's evictions of the bound's, highest of all bands`;
  const ofEmulation = `${name}: emulation's evictions against descheduler's, largest difference`;
  const toEmulation = highest(({ emulated, evictions }) => 100 * Math.abs(emulated / evictions - 1));
  const toBound = highest(({ own, least }) => own / least);
  return [
    ...BUDGETS.flatMap((budget) => [
      figure(`${name}: σ after ${budget} evictions, planner`, sigmaAfter(planner, budget), ""),
      figure(
        `${name}: σ after ${budget} evictions, descheduler's best band`,
        Math.min(...rivals.map(({ run }) => sigmaAfter(run, budget))),
        "",
      ),
      figure(`${name}: σ after ${budget} evictions, bound`, bound[budget] ?? NaN, ""),
    ]),
    ...compared.flatMap(({ band, evictions, sigma, own, least }) => [
      figure(`${name}: band ${band} %, descheduler's final σ`, sigma, ""),
      figure(`${name}: band ${band} %, descheduler's evictions to it`, evictions, "evictions"),
      figure(`${name}: band ${band} %, planner's evictions to it`, own, "evictions"),
      figure(`${name}: band ${band} %, bound's evictions to it`, least, "evictions"),
    ]),
    barred(
      `${name}: planner's evictions of descheduler's, highest of all bands`,
      highest(({ own, evictions }) => own / evictions),
      "",
      `<= ${mostOfRival}`,
    ),
    // The bound takes usage where it is asked for, and the scheduler, which decides where pods land, does not.
    basis === "requests" ? barred(ofBound, toBound, "", "<= 1.15") : figure(ofBound, toBound, ""),
    barred(`${name}: back on the source, planner`, (100 * planner.returned) / lastOf(planner).evictions, "%", "<= 1"),
    isEmulated ? barred(ofEmulation, toEmulation, "%", "<= 10") : figure(ofEmulation, toEmulation, "%"),
  ];
}

/** σ by evictions of the planner, descheduler with its narrowest band and the bound. */
export function casePlot({ name, planner, rivals, bound }: CaseRuns): Plot {
  const [narrowest] = rivals;
  const most = Math.max(lastOf(planner).evictions, ...rivals.map(({ run }) => lastOf(run).evictions));
  const percents = (sigmaAt: (evictions: number) => number) =>
    Array.from({ length: most + 1 }, (_, evictions) => 100 * sigmaAt(evictions));
  return {
    title: `σ of the nodes by evictions, ${name}`,
    unit: "%",
    lines: [
      { name: "eviction-planner", values: percents((evictions) => between(planner, evictions)) },
      {
        name: `descheduler, band ${narrowest?.band ?? 0} %`,
        values: percents((evictions) => (narrowest === undefined ? NaN : between(narrowest.run, evictions))),
      },
      { name: "bound", values: percents((evictions) => bound[evictions] ?? bound.at(-1) ?? NaN) },
    ],
    across: { most, unit: "evictions" },
  };
}

function lastOf({ points }: Run): { readonly evictions: number; readonly sigma: number } {
  return points.at(-1) ?? { evictions: 0, sigma: NaN };
}

/** Infinite if it never got there. */
function evictionsTo({ points }: Run, sigma: number): number {
  return points.find((point) => point.sigma <= sigma)?.evictions ?? Infinity;
}

/** σ after so many evictions, or after all if there were fewer. */
function sigmaAfter({ points }: Run, evictions: number): number {
  return points.findLast((point) => point.evictions <= evictions)?.sigma ?? NaN;
}

/** σ on the straight line between the points that were measured. */
function between({ points }: Run, evictions: number): number {
  const after = points.findIndex((point) => point.evictions >= evictions);
  const [low, high] = [points[after - 1], points[after]];
  if (high === undefined) return points.at(-1)?.sigma ?? NaN;
  if (low === undefined) return high.sigma;
  const part = (evictions - low.evictions) / (high.evictions - low.evictions);
  return low.sigma + part * (high.sigma - low.sigma);
}
