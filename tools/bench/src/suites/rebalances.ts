import { barred, figure, median } from "../result.ts";
import type { Suite } from "../suite.ts";
import { type Load, measureLoad } from "../weights/load.ts";

/**
 * Milliseconds between two reconciles: what counts is calls per interval, so that it need not be the minute of most
 * manifests.
 */
const INTERVAL = 20_000;

/**
 * What one Rebalance costs the original an interval: it lists twice where nothing changes, and thrice with a change.
 */
const ORIGINAL = { steady: 2, changing: 4 };

function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? NaN;
}

/** How the service bears many Rebalances: calls to Route 53, time to decide and to write, and memory. */
export const rebalancesSuite: Suite = {
  name: "rebalances",
  about: "calls to Route 53, latency and memory of weight-rebalancer with 200 and 1,000 Rebalances",
  async run(progress) {
    const some = await measureLoad({ rebalances: 200, zones: 5, interval: INTERVAL }, progress);
    const many = await measureLoad({ rebalances: 1000, zones: 5, interval: INTERVAL }, progress);
    const latency = (count: number, { decided, written }: Load) => [
      figure(`${count}: reconcile due to decision, median`, median(decided), "ms"),
      figure(`${count}: reconcile due to decision, p99`, percentile(decided, 0.99), "ms"),
      barred(`${count}: reconcile due to every record written`, written / INTERVAL, "intervals", "<= 1"),
    ];
    return {
      results: [
        barred("200 in 5 zones: Route 53 calls per interval, nothing changes", some.steadyCalls, "calls", "<= 30"),
        figure("the original, by its code", 200 * ORIGINAL.steady, "calls"),
        figure("200 in 5 zones: Route 53 calls per interval, all change", some.changingCalls, "calls"),
        figure("the original, by its code, all change", 200 * ORIGINAL.changing, "calls"),
        ...latency(200, some),
        ...latency(1000, many),
        figure("1000 in 5 zones: Route 53 calls per interval, nothing changes", many.steadyCalls, "calls"),
        barred("1000: resident memory", many.rss / 2 ** 20, "MiB", "<= 190"),
      ],
      plot: {
        title: "Calls to Route 53 an interval, 200 Rebalances in 5 zones",
        unit: "calls",
        series: [
          { name: "Evenkeel, nothing changes", values: [some.steadyCalls], middle: some.steadyCalls },
          { name: "Evenkeel, all change", values: [some.changingCalls], middle: some.changingCalls },
          { name: "the original, nothing changes", values: [200 * ORIGINAL.steady], middle: 200 * ORIGINAL.steady },
          { name: "the original, all change", values: [200 * ORIGINAL.changing], middle: 200 * ORIGINAL.changing },
        ],
      },
    };
  },
};
