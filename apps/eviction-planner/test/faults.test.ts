import { rm } from "node:fs/promises";
import { eventually } from "@evenkeel/runtime/testing";
import { FaultPlan } from "@evenkeel/sim";
import { describeRedis, RedisServer } from "@evenkeel/state-contract";
import { ADMIN, type ServiceProcess, type World } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { hotSpot, load, metric, policy, type PodList, read, statusOf } from "./hot-spot.ts";

const BUDGET = 2;
const SLOW_EVICTIONS = { fault: { kind: "latency", milliseconds: 700 }, verb: "create", resource: "pods" } as const;

/** A hot node, a policy that would move several pods, and an hour in which two may be. The API server counts evictions. */
class Audited implements AsyncDisposable {
  readonly faults = new FaultPlan();
  readonly evictions: string[] = [];
  world!: World;
  #before: readonly string[] = [];

  static async start(): Promise<Audited> {
    const audited = new Audited();
    audited.world = await hotSpot({
      faults: audited.faults.faults,
      audit: ({ method, url }) => {
        if (method === "POST" && url.includes("/eviction")) audited.evictions.push(url);
      },
    });
    const spec = { basis: "requests", dryRun: false, targetSigma: 0.01, maxEvictionsPerMinute: 100 };
    load(audited.world, policy("default", spec));
    load(audited.world, {
      apiVersion: "rebalancer.dev/v1",
      kind: "WorkloadSLO",
      metadata: { name: "hour", namespace: "default" },
      spec: { maxDisruptionsPerHour: BUDGET },
    });
    audited.#before = await audited.#uids();
    return audited;
  }

  /** Pods that were there at the start and are gone. */
  async gone(): Promise<number> {
    const present = await this.#uids();
    return this.#before.filter((uid) => !present.includes(uid)).length;
  }

  async reason(reason: string): Promise<void> {
    await eventually(async () => {
      const ready = expect.objectContaining({ type: "Ready", reason }) as unknown;
      expect(await statusOf(this.world, "default")).toMatchObject({
        status: { conditions: expect.arrayContaining([ready]) as unknown },
      });
    }, 60_000);
  }

  /** An eviction was made, and the status tells of it. */
  async executed(): Promise<void> {
    await eventually(async () => {
      const { status } = (await statusOf(this.world, "default")) as {
        status?: { plan?: { lastExecutionTime?: string } };
      };
      expect(status?.plan?.lastExecutionTime).toBeDefined();
    }, 60_000);
  }

  /** Never one more than the budget: neither asked for nor gone. */
  async keptBudget(): Promise<void> {
    expect(await this.gone()).toBeLessThanOrEqual(BUDGET);
    expect(this.evictions.length).toBeLessThanOrEqual(BUDGET);
    expect(new Set(this.evictions).size).toBe(this.evictions.length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }

  async #uids(): Promise<readonly string[]> {
    return (await read<PodList>(this.world, "api/v1/namespaces/default/pods")).items.map(
      ({ metadata }) => metadata.uid,
    );
  }
}

async function kill(process: ServiceProcess): Promise<void> {
  process.signal("SIGKILL");
  await process.exit;
}

test("kill -9 before, in and after the call of an eviction never buys one, and the last process ends within the budget", async () => {
  await using audited = await Audited.start();
  const { world, evictions, faults } = audited;
  const flags = ["--sync-period=300ms", `--state=sqlite:${world.folder}/state.db`];
  const fast = faults.add(SLOW_EVICTIONS);
  const first = world.serve(flags);
  // Recorded, and its call is on the way: the API server has not seen it yet.
  await first.line(({ reason }) => reason === "Evicting");
  await kill(first);
  fast();
  const second = world.serve(flags);
  await second.line(({ msg }) => msg === "evicted a pod");
  await kill(second);
  const third = world.serve(flags);
  await third.phase("ready");
  await audited.reason("AsLevelAsItGets");
  await audited.keptBudget();
  expect(evictions.length).toBeGreaterThan(0);
}, 180_000);

const PATH = "apis/rebalancer.dev/v1/rebalancepolicies/default";

async function patch(world: World, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/merge-patch+json" };
  await fetch(`${world.api.url}/${PATH}`, { method: "PATCH", headers, body: JSON.stringify(body) });
}

async function hasCondition(world: World, type: string): Promise<void> {
  const { status } = await statusOf(world, "default");
  const holds = expect.objectContaining({ type, status: "True" }) as unknown;
  expect(status).toMatchObject({ conditions: expect.arrayContaining([holds]) as unknown });
}

test.each([
  {
    // The call that is under way counts in the minute, which then allows one.
    what: "gets a smaller budget",
    change: (world: World) => patch(world, { spec: { maxEvictionsPerMinute: 1 } }),
    seen: async (world: World) => {
      const followed = expect.objectContaining({ type: "Ready", observedGeneration: 2 }) as unknown;
      expect(await statusOf(world, "default")).toMatchObject({
        status: { conditions: expect.arrayContaining([followed]) as unknown },
      });
    },
  },
  {
    what: "becomes a dry run",
    change: (world: World) => patch(world, { spec: { dryRun: true } }),
    seen: async (world: World) =>
      expect(await statusOf(world, "default")).toMatchObject({ status: { plan: { dryRun: true } } }),
  },
  {
    what: "is paused",
    change: (world: World) => patch(world, { metadata: { annotations: { "evenkeel.io/paused": "true" } } }),
    seen: (world: World) => hasCondition(world, "Paused"),
  },
  {
    what: "is deleted",
    change: async (world: World) => {
      const headers = { authorization: `Bearer ${ADMIN.token}` };
      await fetch(`${world.api.url}/${PATH}`, { method: "DELETE", headers });
    },
    seen: async (_world: World, service: ServiceProcess) =>
      expect(await metric(service, /^rebalancer_hot_nodes\{name="default"\} (.+)$/m)).toBeNaN(),
  },
])(
  "a policy that $what during a call ends its evictions",
  async ({ change, seen }) => {
    await using audited = await Audited.start();
    const { world, faults } = audited;
    faults.add(SLOW_EVICTIONS);
    const service = world.serve(["--sync-period=300ms"]);
    await service.line(({ reason }) => reason === "Evicting");
    await change(world);
    await eventually(() => seen(world, service), 30_000);
    // Another policy is followed meanwhile, so that there was time for more.
    load(world, policy("other", { basis: "requests", workloadSelectors: [{ matchLabels: { app: "nobody" } }] }));
    await eventually(async () => {
      expect(await metric(service, /^rebalancer_hot_nodes\{name="other"\} (.+)$/m)).not.toBeNaN();
    }, 30_000);
    // The call that was under way, and no other.
    expect(audited.evictions.length).toBeLessThanOrEqual(1);
  },
  120_000,
);

test("a state that was emptied counts as spent: nothing is evicted for an hour", async () => {
  await using audited = await Audited.start();
  const { world } = audited;
  const flags = ["--sync-period=300ms", `--state=sqlite:${world.folder}/state.db`];
  const first = world.serve(flags);
  await audited.executed();
  await kill(first);
  for (const suffix of ["", "-wal", "-shm"]) await rm(`${world.folder}/state.db${suffix}`, { force: true });
  const asked = audited.evictions.length;
  world.serve(flags);
  await audited.reason("StateLost");
  expect(audited.evictions).toHaveLength(asked);
  await audited.keptBudget();
}, 180_000);

describeRedis("with Redis and two replicas", () => {
  test("Redis away stops evictions, a killed leader buys none, and Redis emptied counts as spent", async () => {
    await using audited = await Audited.start();
    const { world, faults } = audited;
    await using redis = await RedisServer.start();
    const flags = ["--sync-period=300ms", `--state=${redis.address}`, "--state-deadline=500ms"];
    await redis.kill();
    const first = world.serve(flags);
    await audited.reason("StateAway");
    expect(audited.evictions).toEqual([]);

    const fast = faults.add(SLOW_EVICTIONS);
    await redis.run();
    // Only what a status tells of can be missed in a state that is empty.
    await audited.executed();
    const second = world.serve(flags);
    await second.phase("ready");
    await kill(first);
    fast();
    await audited.reason("AsLevelAsItGets");
    await audited.keptBudget();

    const asked = audited.evictions.length;
    await redis.kill();
    await redis.run();
    await audited.reason("StateLost");
    expect(audited.evictions).toHaveLength(asked);
  }, 240_000);

  test("a leader that hangs in a call until another leads evicts nothing more when it goes on", async () => {
    await using audited = await Audited.start();
    const { world, faults } = audited;
    await using redis = await RedisServer.start();
    const lease = ["--lease-duration=3s", "--lease-renew-deadline=2s", "--lease-retry-period=500ms"];
    const flags = ["--sync-period=300ms", `--state=${redis.address}`, ...lease];
    const fast = faults.add(SLOW_EVICTIONS);
    const first = world.serve(flags);
    await first.line(({ reason }) => reason === "Evicting");
    first.signal("SIGSTOP");
    fast();
    const second = world.serve(flags);
    await second.line(({ reason }) => reason === "Evicting" || reason === "AsLevelAsItGets");
    first.signal("SIGCONT");
    await audited.reason("AsLevelAsItGets");
    await audited.keptBudget();
  }, 240_000);
});
