import { eventually } from "@evenkeel/runtime/testing";
import { findRedisServer, RedisServer } from "@evenkeel/state-contract";
import type { ServiceProcess } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import {
  fleetWorld,
  type FleetWorld,
  loadBalancer,
  type Served,
  settled,
  statefulSet,
  staticFleet,
  targetsOf,
} from "./fleet-world.ts";

const COUNT = 40;
const path = (collector: string) => `/jobs/shop%2Fapp/targets?collector_id=${collector}`;

/** Collectors that ask one replica or the other, and keep what they were told when nobody answers. */
class Collectors {
  readonly replicas: ServiceProcess[];
  readonly #told = new Map<string, readonly string[]>();
  /** Addresses that no collector had, by the time they were missed. */
  readonly missed: string[][] = [];
  #turn = 0;

  constructor(replicas: readonly ServiceProcess[]) {
    this.replicas = [...replicas];
  }

  /** Every collector asks once. */
  async poll(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const name = `sample-collector-${index}`;
      const replica = this.replicas[(this.#turn += 1) % this.replicas.length];
      const told = replica && (await ask(replica, path(name)));
      if (told) this.#told.set(name, told);
    }
    const all = new Set([...this.#told.values()].flat());
    const isStarted = this.#told.size > 0 && this.missed.length > 0;
    if (all.size === COUNT) this.missed.push([]);
    else if (isStarted) this.missed.push(addresses().filter((address) => !all.has(address)));
  }

  /** How many collectors have each address. */
  counts(): ReadonlyMap<string, number> {
    const counts = new Map(addresses().map((address) => [address, 0]));
    for (const address of [...this.#told.values()].flat()) counts.set(address, (counts.get(address) ?? 0) + 1);
    return counts;
  }

  /** Polls until each of `count` collectors has targets and each target is with one of them. */
  async settle(count: number): Promise<void> {
    await eventually(async () => {
      await this.poll(count);
      expect([...this.counts().values()].every((each) => each === 1)).toBe(true);
      const busy = [...this.#told.values()].filter((own) => own.length > 0);
      expect(busy).toHaveLength(count);
    }, 120_000);
  }
}

const addresses = () => Array.from({ length: COUNT }, (_, index) => `10.0.0.${index}:9100`);

/** By this header it is known that a collector asks. */
const POLL = { "x-prometheus-refresh-interval-seconds": "1" };

async function ask(
  replica: ServiceProcess,
  target: string,
  headers: Readonly<Record<string, string>> = POLL,
): Promise<readonly string[] | undefined> {
  try {
    const answer = await fetch(await replica.url("targets", target), { headers, signal: AbortSignal.timeout(1000) });
    return answer.ok ? ((await answer.json()) as readonly Served[]).flatMap(({ targets }) => targets) : undefined;
  } catch {
    return undefined;
  }
}

const stateAvailable = (world: FleetWorld, status: string) =>
  eventually(
    async () =>
      expect(await world.read(loadBalancer("sample"))).toMatchObject({
        status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "StateAvailable", status })]) },
      }),
    30_000,
  );

/** What a replica would tell each collector now, by one who only looks: hand-overs do not count it as a poll. */
async function served(replica: ServiceProcess | undefined, count: number): Promise<readonly string[][]> {
  const names = Array.from({ length: count }, (_, index) => `sample-collector-${index}`);
  return Promise.all(names.map(async (name) => [...((replica && (await ask(replica, path(name), {}))) ?? [])]));
}

/** Polls until a target is with two collectors. */
async function bothTold(collectors: Collectors, count: number): Promise<void> {
  await eventually(async () => {
    await collectors.poll(count);
    expect(Math.max(...collectors.counts().values())).toBe(2);
  }, 40_000);
}

/** When the leader is killed: each is a step of a hand-over to the collector `count - 1`. */
const STEPS: Readonly<Record<string, (collectors: Collectors, count: number) => Promise<void>>> = {
  "before it begins": () => Promise.resolve(),
  "when targets are given": async ({ replicas }, count) => {
    await eventually(async () => expect((await served(replicas[0], count)).at(-1)).not.toEqual([]), 40_000);
  },
  "when the new owner was told": bothTold,
  "when targets are taken from the former owner": async (collectors, count) => {
    await bothTold(collectors, count);
    const { replicas } = collectors;
    await eventually(async () => expect((await served(replicas[0], count)).flat()).toHaveLength(COUNT), 40_000);
    expect(Math.max(...collectors.counts().values())).toBe(2);
  },
};

const leads = ({ lines }: ServiceProcess) => lines.some(({ msg }) => msg === "leading");

/** Two replicas on one Redis, and two collectors that have all targets. */
async function settledPair(world: FleetWorld) {
  const redis = await RedisServer.start();
  world.use({ stop: () => redis.end() });
  world.load(staticFleet("sample", COUNT, { replicas: 2 }));
  const serve = () => world.serve([`--state=${redis.address}`]);
  const first = serve();
  await first.phase("ready");
  const collectors = new Collectors([first, serve()]);
  await collectors.settle(2);
  return { redis, serve, collectors };
}

// All wait most of the time, so that they run side by side.
const hasRedis = findRedisServer() !== undefined;
const testRedis = hasRedis ? test.concurrent : test.concurrent.skip;
const kept = `${hasRedis ? "" : "needs redis-server: "}no target is taken from all collectors`;

testRedis.each(Object.entries(STEPS))(
  `${kept} by a leader that is killed in a hand-over, %s`,
  async (_step, isReached) => {
    await using world = await fleetWorld();
    const { collectors, serve } = await settledPair(world);
    expect(await world.patch(loadBalancer("sample"), { spec: { replicas: 3 } })).toBe(200);
    await isReached(collectors, 3);
    const leader = await eventually(() => collectors.replicas.find(leads) ?? false, 30_000);
    leader.signal("SIGKILL");
    await collectors.poll(3);
    collectors.replicas.splice(collectors.replicas.indexOf(leader), 1, serve());
    await collectors.settle(3);
    expect(collectors.missed.filter((each) => each.length > 0)).toEqual([]);
  },
  240_000,
);

testRedis(
  `${kept} by a Redis that dies, and it is used again when it is back`,
  async () => {
    await using world = await fleetWorld();
    const { redis, collectors } = await settledPair(world);
    await redis.kill();
    await stateAvailable(world, "False");
    await collectors.poll(2);
    expect([...collectors.counts().values()].every((each) => each === 1)).toBe(true);
    await redis.run();
    await stateAvailable(world, "True");
    expect(await world.patch(loadBalancer("sample"), { spec: { replicas: 3 } })).toBe(200);
    await collectors.settle(3);
    expect(collectors.missed.filter((each) => each.length > 0)).toEqual([]);
  },
  240_000,
);

const pods = ["sample-collector-0", "sample-collector-1"];
const podPath = (name: string) => `api/v1/namespaces/default/pods/${name}`;

interface PodFields {
  readonly metadata?: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec?: { readonly containers: readonly { readonly image: string }[] };
}

test.concurrent(
  "restart: handOver gives the targets of each collector to others before its pod is replaced",
  async () => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 30, { restart: "handOver", replicas: 2 }));
    const service = await world.ready();
    await settled(service, path, pods, 30);
    const partition = async () =>
      (await world.read<{ spec: { updateStrategy: { rollingUpdate: { partition: number } } } }>(statefulSet("sample")))
        .spec.updateStrategy.rollingUpdate.partition;
    await eventually(async () => expect(await partition()).toBe(2));
    const uidOf = async (name: string) => (await world.read<PodFields>(podPath(name))).metadata?.uid;
    const before = new Map(await Promise.all(pods.map(async (name) => [name, await uidOf(name)] as const)));
    expect(await world.patch(loadBalancer("sample"), { spec: { collectorImage: "collector:2" } })).toBe(200);

    const order: string[] = [];
    await eventually(async () => {
      for (const name of pods) {
        const own = await targetsOf(service, path(name));
        const isReplaced = (await uidOf(name)) !== before.get(name);
        if (!isReplaced || order.includes(name)) continue;
        order.push(name);
        // The others were told them before the pod went.
        expect(own).toEqual([]);
      }
      expect(order).toEqual(["sample-collector-1", "sample-collector-0"]);
    }, 150_000);
    await eventually(async () => {
      const images = await Promise.all(pods.map(async (name) => (await world.read<PodFields>(podPath(name))).spec));
      expect(images.map((spec) => spec?.containers[0]?.image)).toEqual(["collector:2", "collector:2"]);
    });
  },
  240_000,
);

test.concurrent.each([
  ["the annotation paused", { metadata: { annotations: { "evenkeel.io/paused": "true" } } }],
  ["dryRun", { spec: { dryRun: true } }],
])(
  "targets that nobody has in a gap get their new owner in spite of %s",
  async (_what, stop) => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 20, { replicas: 1, handOver: { policy: "gap" } }));
    const service = await world.ready();
    await settled(service, path, pods.slice(0, 1), 20);
    expect(await world.patch(loadBalancer("sample"), { spec: { replicas: 2 } })).toBe(200);
    const count = async () => (await served(service, 3)).flat().length;
    await eventually(async () => expect(await count()).toBeLessThan(20), 60_000);
    expect(await world.patch(loadBalancer("sample"), stop)).toBe(200);
    await settled(service, path, pods, 20);
  },
  120_000,
);
