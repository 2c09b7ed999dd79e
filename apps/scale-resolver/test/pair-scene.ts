import { eventually } from "@evenkeel/runtime/testing";
import { expect } from "@jest/globals";
import { metricOf } from "./admin-api.ts";
import { Pair, type Replica } from "./pair.ts";
import { type Answer, ask } from "./ask.ts";
import { World } from "./world.ts";

/** Two replicas on one Redis, and services that are theirs. */
export class PairScene implements AsyncDisposable {
  readonly world: World;
  readonly pair: Pair;

  private constructor(world: World, pair: Pair) {
    this.world = world;
    this.pair = pair;
  }

  /** `startDelay` is from a pod's creation until it is ready, in milliseconds. */
  static async start(startDelay: number, flags: readonly string[] = []): Promise<PairScene> {
    const world = await World.start({ startDelay });
    return new PairScene(world, await Pair.start(world, flags));
  }

  /** A service that serves, and is idle or busy. */
  async service(name: string, isIdle: boolean, change: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { world } = this;
    world.traffic.set(name, isIdle ? 0 : 5);
    await world.workload(name);
    await eventually(() => world.ask(name));
    await world.elasti(name, change);
  }

  async asleep(name: string): Promise<void> {
    await this.world.asleep(name);
  }

  /** Requests that wait in one replica, and what becomes of each: a status, or how it failed. */
  async hold(replica: Replica, name: string, count: number): Promise<Promise<number | string>[]> {
    const place = await this.pair.place(replica, name);
    const ended: (number | string)[] = [];
    const results = Array.from({ length: count }, async (_, index) => {
      const result = await ask(place, { method: "POST", path: `/${replica.name}/${index}`, body: "x" }).then(
        ({ status }: Answer) => status,
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      );
      ended.push(result);
      return result;
    });
    await eventually(async () =>
      expect({ pending: await this.pendingIn(replica, name), ended }).toEqual({ pending: count, ended: [] }),
    );
    return results;
  }

  async pendingIn(replica: Replica, name: string): Promise<number> {
    const url = `http://${await this.pair.listener(replica, "admin")}/metrics`;
    return metricOf(url, "evenkeel_resolver_pending", { service: name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pair[Symbol.asyncDispose]();
    await this.world[Symbol.asyncDispose]();
  }
}
