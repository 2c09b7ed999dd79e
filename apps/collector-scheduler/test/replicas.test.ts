import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis, RedisServer } from "@evenkeel/state-contract";
import type { ServiceProcess } from "@evenkeel/testkit";
import { expect, test } from "@jest/globals";
import { fleetWorld, type FleetWorld, loadBalancer, type Served, staticFleet } from "./fleet-world.ts";

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
    }, 60_000);
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

describeRedis("two replicas", () => {
  test("a leader killed at any step of a hand-over, and a Redis that dies, take no target from all collectors", async () => {
    await using world = await fleetWorld();
    const redis = await RedisServer.start();
    world.use({ stop: () => redis.end() });
    world.load(staticFleet("sample", COUNT, { replicas: 2 }));
    const serve = () => world.serve([`--state=${redis.address}`]);
    const first = serve();
    await first.phase("ready");
    const collectors = new Collectors([first, serve()]);
    await collectors.settle(2);

    let count = 2;
    for (const isReached of Object.values(STEPS)) {
      count += 1;
      expect(await world.patch(loadBalancer("sample"), { spec: { replicas: count } })).toBe(200);
      await isReached(collectors, count);
      const leader = await eventually(() => collectors.replicas.find(leads) ?? false, 30_000);
      leader.signal("SIGKILL");
      await collectors.poll(count);
      collectors.replicas.splice(collectors.replicas.indexOf(leader), 1, serve());
      await collectors.settle(count);
    }

    await redis.kill();
    await stateAvailable(world, "False");
    await collectors.poll(count);
    expect([...collectors.counts().values()].every((each) => each === 1)).toBe(true);
    await redis.run();
    await stateAvailable(world, "True");
    await collectors.settle(count);
    expect(collectors.missed.filter((each) => each.length > 0)).toEqual([]);
  }, 300_000);
});
