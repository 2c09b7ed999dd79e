import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { hotSpot, load, metric, policy, type PodList, read } from "./hot-spot.ts";

/** Plans of a run, of which the first third is for warming up. */
const PLANS = 1500;
const EVERY = 25;

const inSoak = process.env["SOAK"] === "1" ? test : test.skip;

inSoak(
  "memory stays flat over 1,500 plans while pods come and go (runs in make soak SUITE=eviction-planner)",
  async () => {
    await using world = await hotSpot();
    load(
      world,
      policy("default", { basis: "requests", dryRun: false, targetSigma: 0.01, maxEvictionsPerMinute: 1000 }),
    );
    load(world, policy("second", { basis: "requests" }));
    const service = world.serve(["--sync-period=100ms"]);
    const headers = { authorization: `Bearer ${ADMIN.token}` };
    const plans = () => metric(service, /^rebalancer_plan_seconds_count (\d+)$/m);
    const sizes: number[] = [];
    while (sizes.length < PLANS / EVERY) {
      const { items } = await read<PodList & { items: { metadata: { name: string } }[] }>(
        ...([world, "api/v1/namespaces/default/pods"] as const),
      );
      const name = items[sizes.length % Math.max(1, items.length)]?.metadata.name ?? "";
      await fetch(`${world.api.url}/api/v1/namespaces/default/pods/${name}`, { method: "DELETE", headers });
      const until = (sizes.length + 1) * EVERY;
      await eventually(async () => expect(await plans()).toBeGreaterThanOrEqual(until), 120_000);
      sizes.push(await metric(service, /^process_resident_memory_bytes (\S+)$/m));
    }
    const third = Math.floor(sizes.length / 3);
    const [middle, last] = [medianOf(sizes.slice(third, 2 * third)), medianOf(sizes.slice(2 * third))];
    process.stderr.write(`RSS: ${Math.round(middle / 2 ** 20)} MiB, then ${Math.round(last / 2 ** 20)} MiB\n`);
    expect(last).toBeLessThanOrEqual(1.1 * middle);
  },
  1_800_000,
);

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}
