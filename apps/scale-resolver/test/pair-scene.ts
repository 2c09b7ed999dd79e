import { endpointSlices } from "@evenkeel/kube";
import { expect } from "@jest/globals";
import { metricOf } from "./asking.ts";
import { Pair, type Replica } from "./pair.ts";
import { type Answer, ask, eventually, World } from "./world.ts";

/** From a pod's creation until it is ready: time enough for what goes wrong during a wake. */
const START = 2500;

/** Two replicas on one Redis, and services that are theirs. */
export class PairScene implements AsyncDisposable {
  readonly world: World;
  readonly pair: Pair;

  private constructor(world: World, pair: Pair) {
    this.world = world;
    this.pair = pair;
  }

  /** `number` is the world's. */
  static async start(number: number): Promise<PairScene> {
    const world = await World.start({ number, startDelay: START });
    return new PairScene(world, await Pair.start(world));
  }

  /** A service of its own metric, which is idle while `value` is 0. */
  async service(name: string, value: number, change: Readonly<Record<string, unknown>> = {}) {
    const { world } = this;
    const metric = { value };
    world.prometheus.answer(`of ${name}`, () => ({ kind: "vector", samples: [{ metric: {}, value: metric.value }] }));
    const metadata = { query: `of ${name}`, serverAddress: world.prometheus.url, threshold: "0.5" };
    await world.workload(name);
    await eventually(() => world.ask(name));
    await world.elasti(name, { triggers: [{ type: "prometheus", metadata }], ...change });
    return metric;
  }

  async asleep(name: string) {
    const metric = await this.service(name, 0);
    await this.world.sleeps(name, 30_000);
    return metric;
  }

  /** Both are alive and ready, whatever the test before did to them. */
  async whole(): Promise<void> {
    const { pair } = this;
    if (!(await pair.redis.ask((client) => client.ping()).catch(() => false))) await pair.redis.run();
    for (const replica of pair.both) if (pair.hasEnded(replica)) await pair.revive(replica);
    await pair.leader();
  }

  /** Requests that wait in one replica, and what becomes of each: a status, or how it failed. */
  async hold(replica: Replica, name: string, count: number): Promise<Promise<number | string>[]> {
    const place = await this.pair.place(replica, name);
    const results = Array.from({ length: count }, (_, index) =>
      ask(place, { method: "POST", path: `/${replica.name}/${index}`, body: "x" }).then(
        ({ status }: Answer) => status,
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      ),
    );
    await eventually(async () => expect(await this.pendingIn(replica, name)).toBe(count));
    return results;
  }

  async pendingIn(replica: Replica, name: string): Promise<number> {
    const url = `http://${await this.pair.door(replica, "admin")}/metrics`;
    return metricOf(url, "evenkeel_resolver_pending", { service: name });
  }

  /** The addresses that requests of a Service are led to. */
  async resolversOf(name: string): Promise<string[]> {
    const labelSelector = `kubernetes.io/service-name=${name},endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io`;
    const { items } = await this.world.kube.resource(endpointSlices).list({ namespace: "default", labelSelector });
    return items.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pair[Symbol.asyncDispose]();
    await this.world[Symbol.asyncDispose]();
  }
}

/** `what`, so many times. */
export function all(count: number, what: number | string): readonly (number | string)[] {
  return Array.from({ length: count }, () => what);
}
