import { apportion } from "@evenkeel/scoring";
import { barred, figure, median } from "../result.ts";
import type { Suite } from "../suite.ts";

const SIZES = [10, 32, 100, 316, 1000];
const ROUNDS = 7;
/** Milliseconds of CPU time that one round of one size takes at the least, so that the clock's grain does not count. */
const ROUND_TIME = 100;

/** Shares as cluster scores are: decimals, some capped, most holding something. */
function scene(size: number) {
  const shares = Array.from({ length: size }, (_, index) => ({
    name: `cluster-${index}`,
    weight: ((index * 7919) % 1000) / 10 + 0.1,
    ...(index % 5 === 0 ? { cap: 12 } : {}),
  }));
  const total = size * 10;
  return { shares, total, previous: apportion(total - size, shares).parts };
}

/** Microseconds of CPU time of one call, caught in a round of many. */
function cost({ total, shares, previous }: ReturnType<typeof scene>): number {
  const began = process.threadCpuUsage();
  let calls = 0;
  for (;;) {
    apportion(total, shares, previous);
    calls += 1;
    const { user, system } = process.threadCpuUsage(began);
    if (user + system > ROUND_TIME * 1000) return (user + system) / calls;
  }
}

/** How the cost of splitting replicas grows with the number of clusters. */
export const scoring: Suite = {
  name: "scoring",
  about: "apportion at 10 to 1,000 clusters: CPU time of a call, and how it grows",
  run(progress) {
    const rows = SIZES.map((size) => ({ size, world: scene(size), costs: [] as number[] }));
    for (let round = 0; round < ROUNDS; round++) {
      for (const { world, costs } of round % 2 === 0 ? rows : rows.toReversed()) costs.push(cost(world));
      progress(`round ${round + 1} of ${ROUNDS}`);
    }
    const series = rows.map(({ size, costs }) => ({ name: `${size} clusters`, values: costs, middle: median(costs) }));
    const growth = (series.at(-1)?.middle ?? NaN) / (series[0]?.middle ?? NaN);
    return Promise.resolve({
      results: [
        ...series.map(({ name, middle }) => figure(`apportion, ${name}`, middle, "µs")),
        // A hundred times the clusters: sorting alone explains a factor of 300, and anything quadratic would be 10,000.
        barred("1,000 clusters / 10 clusters", growth, "ratio", "<= 400"),
      ],
      plot: { title: "CPU time of one apportionment", unit: "µs", series },
    });
  },
};
