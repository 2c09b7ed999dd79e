import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { hotSpot, load, metric, nodesOf, policy, statusOf } from "./hot-spot.ts";

/** How many pods each node has. */
async function countsOf(world: Parameters<typeof nodesOf>[0]): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const node of await nodesOf(world)) counts[node ?? ""] = (counts[node ?? ""] ?? 0) + 1;
  return counts;
}

test("with dryRun: false pods leave the hot node one at a time until it is not hot, and then nothing more happens", async () => {
  await using world = await hotSpot();
  load(world, policy("default", { basis: "requests", dryRun: false, maxEvictionsPerMinute: 100 }));
  const service = world.serve(["--sync-period=500ms"]);
  await eventually(async () => {
    const { one = 0, two = 0, three = 0 } = await countsOf(world);
    expect(one).toBeLessThan(7);
    expect(one + two + three).toBe(7);
    const converged = expect.objectContaining({ type: "Converged", status: "True" }) as unknown;
    expect(await statusOf(world, "default")).toMatchObject({
      status: { conditions: expect.arrayContaining([converged]) as unknown, plan: { hotNodes: 0 } },
    });
  }, 60_000);
  const evicted = await metric(service, /^rebalancer_evictions_total\{namespace="default",reason="HotNode"\} (\d+)$/m);
  const { one = 0 } = await countsOf(world);
  expect(evicted).toBe(7 - one);
  expect(await statusOf(world, "default")).toMatchObject({
    status: { plan: { lastExecutionTime: expect.any(String) as unknown, dryRun: false } },
  });
});

test("a disruption budget without room holds its pods, and no eviction is asked for", async () => {
  await using world = await hotSpot();
  load(world, {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "press", namespace: "default" },
    spec: { minAvailable: 7, selector: { matchLabels: { app: "press" } } },
  });
  load(world, policy("default", { basis: "requests", dryRun: false }));
  world.serve(["--sync-period=500ms"]);
  await eventually(async () => {
    const blocked = expect.objectContaining({ type: "Blocked", status: "True" }) as unknown;
    expect(await statusOf(world, "default")).toMatchObject({
      status: { plan: { blocked: { DisruptionBudget: 7 } }, conditions: expect.arrayContaining([blocked]) as unknown },
    });
  }, 20_000);
  expect(await countsOf(world)).toEqual({ one: 7 });
});
