import { expect, test } from "@jest/globals";
import { caseFigures, casePlot } from "./figures.ts";
import type { CaseRuns } from "./case.ts";
import { countReturned } from "./contest.ts";

const runs: CaseRuns = {
  name: "uniform",
  basis: "requests",
  isEmulated: true,
  planner: {
    points: [
      { evictions: 0, sigma: 0.4 },
      { evictions: 10, sigma: 0.2 },
      { evictions: 12, sigma: 0.1 },
    ],
    returned: 0,
  },
  rivals: [
    {
      band: 10,
      run: {
        points: [
          { evictions: 0, sigma: 0.4 },
          { evictions: 10, sigma: 0.3 },
          { evictions: 20, sigma: 0.1 },
        ],
        returned: 3,
      },
      emulated: 21,
    },
  ],
  bound: [0.4, ...new Array<number>(10).fill(0.15), 0.1],
};

test("the planner's evictions are compared with descheduler's and the bound's at the same σ", () => {
  const value = (part: string) => caseFigures(runs, 0.8).find(({ measure }) => measure.includes(part));
  expect(value("of descheduler's, highest")).toMatchObject({ value: 0.6, bar: "<= 0.8", ok: true });
  expect(value("of the bound's")).toMatchObject({ value: 1.09, bar: "<= 1.15", ok: true });
  expect(value("emulation's evictions")).toMatchObject({ value: 5, ok: true });
  expect(value("after 10 evictions, descheduler")).toMatchObject({ value: 0.3 });
});

test("a planner that does not reach descheduler's σ misses the bar", () => {
  const planner = { points: [{ evictions: 0, sigma: 0.4 }], returned: 0 };
  const missed = caseFigures({ ...runs, planner }, 0.8).filter(({ ok }) => !ok);
  expect(missed.map(({ measure }) => measure)).toContain(
    "uniform: planner's evictions of descheduler's, highest of all bands",
  );
});

test("the plot has straight lines between measured points, in percent", () => {
  const plot = casePlot(runs);
  expect("lines" in plot && plot.lines[0]?.values.slice(9, 13)).toEqual([
    expect.closeTo(22),
    20,
    expect.closeTo(15),
    10,
  ]);
});

test("a replacement counts as returned once for each pod of its workload that left the node", () => {
  const on = (workload: string, node: string) => ({ workload, node });
  expect(countReturned([on("a", "1"), on("b", "1")], [on("a", "1"), on("a", "1"), on("b", "2")])).toBe(1);
});
