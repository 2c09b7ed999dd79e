import { once } from "node:events";
import { rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { promisify } from "node:util";
import { drainV1 } from "@evenkeel/rpc";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis, RedisServer } from "@evenkeel/state-contract";
import { ADMIN, type ServiceProcess, type World } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { Audited, BUDGET, kill } from "./audited.ts";
import { drainPeer } from "./drain-peer.ts";
import { load, metric, policy, statusOf } from "./hot-spot.ts";
import { plannerWorld } from "./planner-world.ts";

const EVICTIONS = { verb: "create", resource: "pods" } as const;
const SLOW_EVICTIONS = { ...EVICTIONS, fault: { kind: "latency", milliseconds: 700 } } as const;
const PEER = /^evenkeel_peer_up\{peer="[^"]+"\} (\d)$/m;
const REMAINING = /^rebalancer_budget_remaining\{namespace="default"\} (.+)$/m;

/** For the process of a service whose wall clock is set. */
const CLOCK = `--import=${new URL("jumping-clock.ts", import.meta.url).href}`;

test.concurrent(
  "kill -9 in and after the call of an eviction never buys one, and the last process ends within the budget",
  async () => {
    await using audited = await Audited.start();
    const { world, evictions } = audited;
    // A dry run in the same cluster must not show the budget as unspent.
    load(world, policy("later", { basis: "requests" }));
    const flags = ["--sync-period=300ms", `--state=sqlite:${world.folder}/state.db`];
    const first = world.serve(flags);
    // The API server makes the eviction, and its answer reaches nobody.
    audited.onEviction = () => first.signal("SIGKILL");
    await first.exit;
    audited.onEviction = () => undefined;
    expect(evictions).toHaveLength(1);
    const second = world.serve(flags);
    await second.line(({ msg }) => msg === "evicted a pod");
    await kill(second);
    const third = world.serve(flags);
    await third.phase("ready");
    await audited.reason("AsLevelAsItGets");
    await morePlans(third);
    await audited.keptBudget();
    expect(await audited.gone()).toBe(BUDGET);
    expect(await metric(third, REMAINING)).toBe(0);
  },
  180_000,
);

test.concurrent(
  "kill -9 between the record of an eviction and the eviction costs the budget one, and the next process goes on",
  async () => {
    await using audited = await Audited.start();
    const { world, faults, evictions } = audited;
    const flags = ["--sync-period=300ms", `--state=sqlite:${world.folder}/state.db`];
    const answer = faults.add({ ...EVICTIONS, fault: { kind: "hang" } });
    const first = world.serve(flags);
    await audited.arrival();
    await kill(first);
    answer();
    // It starts three minutes later by its clock: a pod that is still there then was never evicted.
    const env = { CLOCK_AHEAD: "180000" };
    const second = world.serve(flags, { nodeFlags: [CLOCK], env });
    await second.line(({ msg }) => msg === "evicted a pod");
    await audited.reason("AsLevelAsItGets");
    await audited.keptBudget();
    expect(evictions).toHaveLength(BUDGET - 1);
    expect(await metric(second, REMAINING)).toBe(0);
  },
  180_000,
);

test.concurrent(
  "a wall clock that jumps two hours ahead in a call, and back later, gives no budget back",
  async () => {
    await using audited = await Audited.start();
    const { world, faults, evictions } = audited;
    const takeBack = faults.add(SLOW_EVICTIONS);
    const env = { CLOCK_JUMP: "7200000" };
    const service = world.serve(["--sync-period=300ms"], { nodeFlags: [CLOCK], env });
    await audited.arrival();
    service.signal("SIGUSR2");
    takeBack();
    await eventually(() => expect(evictions).toHaveLength(BUDGET), 60_000);
    await audited.reason("AsLevelAsItGets");
    await morePlans(service);
    service.signal("SIGUSR2");
    await morePlans(service);
    await audited.keptBudget();
    expect(await audited.gone()).toBe(BUDGET);
    expect(await metric(service, REMAINING)).toBe(0);
  },
  180_000,
);

test.concurrent(
  "a drain peer that hangs delays evictions, counts none twice, and is asked again when it answers",
  async () => {
    const sockets = new Set<Socket>();
    const hung = createServer((socket) => sockets.add(socket)).listen(0, "127.0.0.1");
    await once(hung, "listening");
    const { port } = hung.address() as AddressInfo;
    const end = async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      await promisify(hung.close.bind(hung))();
    };
    try {
      await using audited = await Audited.start();
      const { world, evictions } = audited;
      const service = world.serve(["--sync-period=300ms", `--drain-peers=127.0.0.1:${port}`]);
      // Its siblings are ready, so the pod goes without the peer after the deadline of a call.
      await eventually(() => expect(evictions).toHaveLength(1), 60_000);
      const paused = (value: string | null) =>
        patch(world, { metadata: { annotations: { "evenkeel.io/paused": value } } });
      await paused("true");
      await eventually(() => hasCondition(world, "Paused"), 30_000);
      await end();
      await using peer = await drainPeer(() => drainV1.Preparation.PREPARATION_READY, port);
      await eventually(async () => expect(await metric(service, PEER)).toBe(1), 60_000);
      await paused(null);
      await eventually(() => expect(evictions).toHaveLength(BUDGET), 60_000);
      await audited.reason("AsLevelAsItGets");
      await morePlans(service);
      await audited.keptBudget();
      expect(await audited.gone()).toBe(BUDGET);
      const [first, second] = evictions.map((url) => /pods\/([^/]+)\//.exec(url)?.[1] ?? "");
      const prepared = peer.calls.filter(({ method }) => method === "prepare").map(({ pod }) => pod);
      expect(prepared).toContain(second);
      expect(prepared).not.toContain(first);
    } finally {
      if (hung.listening) await end();
    }
  },
  180_000,
);

/** The policy was planned for several times more. */
async function morePlans(service: ServiceProcess): Promise<void> {
  const plans = () => metric(service, /^rebalancer_plan_seconds_count (\d+)$/m);
  const before = await plans();
  await eventually(async () => expect(await plans()).toBeGreaterThan(before + 3), 60_000);
}

test.concurrent(
  "a kind that may not be listed is named in the condition Ready",
  async () => {
    const refusal = {
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      reason: "Forbidden",
      code: 403,
      message: "no",
    };
    await using world = await plannerWorld({
      faults: ({ url = "" }, response) => {
        if (!url.includes("/csinodes")) return "pass";
        response.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify(refusal));
        return "handled";
      },
    });
    load(world, policy("default", { basis: "requests" }));
    world.serve(["--sync-period=300ms"]);
    const ready = { type: "Ready", status: "False", reason: "Failed", message: expect.stringContaining("csinodes") };
    await eventually(
      async () =>
        expect(await statusOf(world, "default")).toMatchObject({
          status: { conditions: [expect.objectContaining(ready) as unknown] },
        }),
      60_000,
    );
  },
  120_000,
);

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

test.concurrent.each([
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
    await audited.arrival();
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

test.concurrent(
  "a state that was emptied counts as spent: nothing is evicted for an hour",
  async () => {
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
  },
  180_000,
);

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
    await audited.arrival();
    first.signal("SIGSTOP");
    fast();
    const second = world.serve(flags);
    await second.line(({ reason }) => reason === "Evicting" || reason === "AsLevelAsItGets");
    first.signal("SIGCONT");
    await audited.reason("AsLevelAsItGets");
    await audited.keptBudget();
  }, 240_000);
});
