import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { hotSpot, load, metric, nodesOf, policy, read, statusOf } from "./hot-spot.ts";

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

test("the budget of a WorkloadSLO holds over a kill -9, because each eviction is recorded before its call", async () => {
  await using world = await hotSpot();
  load(world, policy("default", { basis: "requests", dryRun: false, targetSigma: 0.01, maxEvictionsPerMinute: 100 }));
  load(world, {
    apiVersion: "rebalancer.dev/v1",
    kind: "WorkloadSLO",
    metadata: { name: "hour", namespace: "default" },
    spec: { maxDisruptionsPerHour: 2 },
  });
  // A dry run beside it must not show the budget as unspent.
  load(world, policy("later", { basis: "requests" }));
  const flags = ["--sync-period=300ms", `--state=sqlite:${world.folder}/state.db`];
  const uids = async () =>
    (
      await read<{ readonly items: readonly { readonly metadata: { readonly uid: string } }[] }>(
        world,
        "api/v1/namespaces/default/pods",
      )
    ).items.map(({ metadata }) => metadata.uid);
  const before = await uids();
  const gone = async () => {
    const present = await uids();
    return before.filter((uid) => !present.includes(uid)).length;
  };
  const first = world.serve(flags);
  await eventually(async () => expect(await gone()).toBeGreaterThan(0), 60_000);
  first.signal("SIGKILL");
  await first.exit;
  const second = world.serve(flags);
  await eventually(async () => {
    expect(await gone()).toBe(2);
    expect(await metric(second, /^rebalancer_budget_remaining\{namespace="default"\} (.+)$/m)).toBe(0);
    const held = expect.objectContaining({ type: "Ready", reason: "AsLevelAsItGets" }) as unknown;
    expect(await statusOf(world, "default")).toMatchObject({
      status: { conditions: expect.arrayContaining([held]) as unknown },
    });
  }, 60_000);
  expect(await gone()).toBe(2);
}, 150_000);

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
