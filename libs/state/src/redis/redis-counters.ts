import { checkCounts, checkName, checkTtl } from "../arguments.ts";
import type { Keys } from "../keys.ts";
import type { Counters, Counts } from "../state.ts";
import { parseCounts, sumCounts } from "../stored-text.ts";
import type { Calls } from "./calls.ts";

export class RedisCounters implements Counters {
  readonly #calls: Calls;
  readonly #keys: Keys;

  constructor(calls: Calls, keys: Keys) {
    this.#calls = calls;
    this.#keys = keys;
  }

  async report(object: string, replica: string, counts: Counts, ttl: number): Promise<void> {
    const key = this.#keys.counts(object);
    const args = [checkName("replica", replica), checkTtl(ttl), checkCounts(counts)];
    await this.#calls.run("report", key, (client) => client.ekReport(key, ...args));
  }

  async withdraw(object: string, replica: string): Promise<void> {
    const key = this.#keys.counts(object);
    checkName("replica", replica);
    await this.#calls.run("withdraw", key, (client) => client.hdel(key, replica));
  }

  async read(object: string): Promise<ReadonlyMap<string, Counts>> {
    const key = this.#keys.counts(object);
    const alive = (await this.#calls.run("counts", key, (client) => client.ekCounts(key))) as readonly string[];
    const counts = new Map<string, Counts>();
    for (let index = 0; index < alive.length; index += 2) {
      const replica = alive[index] ?? "";
      counts.set(replica, parseCounts(`${key} ${replica}`, alive[index + 1] ?? ""));
    }
    return counts;
  }

  async sum(object: string): Promise<Counts> {
    return sumCounts((await this.read(object)).values());
  }
}
