import { checkTtl } from "../arguments.ts";
import type { Keys } from "../keys.ts";
import type { Lock, Locks } from "../state.ts";
import { uniqueToken } from "../stored-text.ts";
import type { Calls } from "./calls.ts";

export class RedisLocks implements Locks {
  readonly #calls: Calls;
  readonly #keys: Keys;

  constructor(calls: Calls, keys: Keys) {
    this.#calls = calls;
    this.#keys = keys;
  }

  async acquire(object: string, name: string, ttl: number): Promise<Lock | undefined> {
    const key = this.#keys.lock(object, name);
    const milliseconds = checkTtl(ttl);
    const token = uniqueToken();
    const reply = await this.#calls.run("acquire", key, (client) => client.set(key, token, "PX", milliseconds, "NX"));
    return reply === "OK" ? { object, name, token } : undefined;
  }

  async renew({ object, name, token }: Lock, ttl: number): Promise<boolean> {
    const key = this.#keys.lock(object, name);
    const milliseconds = checkTtl(ttl);
    return (await this.#calls.run("renew", key, (client) => client.ekRenew(key, token, milliseconds))) === "1";
  }

  async release({ object, name, token }: Lock): Promise<boolean> {
    const key = this.#keys.lock(object, name);
    return (await this.#calls.run("release", key, (client) => client.ekRelease(key, token))) === "1";
  }
}
