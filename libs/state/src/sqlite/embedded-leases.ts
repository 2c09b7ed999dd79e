import type { Clock } from "@evenkeel/runtime";
import { checkCounts, checkName, checkTtl } from "../arguments.ts";
import { counted, type StateMetrics } from "../metrics.ts";
import type { Counters, Counts, Lock, Locks } from "../state.ts";
import { parseCounts, sumCounts, uniqueToken } from "../stored-text.ts";

/**
 * Values that end by themselves, in memory and on a clock that does not jump. They need no file: whoever counted or held a lock
 * was part of this process, and is gone when it is.
 */
class Lapsing<T> {
  readonly #clock: Clock;
  readonly #values = new Map<string, { readonly value: T; readonly ends: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): T | undefined {
    this.#sweep();
    return this.#values.get(key)?.value;
  }

  set(key: string, value: T, ttl: number): void {
    this.#sweep();
    this.#values.set(key, { value, ends: this.#clock.monotonic() + ttl });
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  entries(): readonly (readonly [string, T])[] {
    this.#sweep();
    return [...this.#values].map(([key, { value }]) => [key, value] as const);
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const [key, { ends }] of this.#values) if (ends <= now) this.#values.delete(key);
  }
}

export class EmbeddedCounters implements Counters {
  readonly #clock: Clock;
  readonly #metrics: StateMetrics;
  readonly #byObject = new Map<string, Lapsing<Counts>>();

  constructor(clock: Clock, metrics: StateMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  async report(object: string, replica: string, counts: Counts, ttl: number): Promise<void> {
    checkName("object", object);
    checkName("replica", replica);
    const copy = parseCounts(replica, checkCounts(counts));
    checkTtl(ttl);
    await this.#done("report", () => {
      const replicas = this.#byObject.get(object) ?? new Lapsing<Counts>(this.#clock);
      this.#byObject.set(object, replicas);
      replicas.set(replica, copy, ttl);
    });
  }

  async withdraw(object: string, replica: string): Promise<void> {
    checkName("object", object);
    checkName("replica", replica);
    await this.#done("withdraw", () => this.#byObject.get(object)?.delete(replica));
  }

  async read(object: string): Promise<ReadonlyMap<string, Counts>> {
    checkName("object", object);
    return this.#done("counts", () => {
      const alive = new Map(this.#byObject.get(object)?.entries());
      if (alive.size === 0) this.#byObject.delete(object);
      return alive;
    });
  }

  async sum(object: string): Promise<Counts> {
    return sumCounts((await this.read(object)).values());
  }

  forget(object: string): void {
    this.#byObject.delete(object);
  }

  #done<T>(operation: "report" | "withdraw" | "counts", work: () => T): Promise<T> {
    return counted(this.#metrics, operation, () => Promise.resolve(work()));
  }
}

export class EmbeddedLocks implements Locks {
  readonly #metrics: StateMetrics;
  readonly #tokens: Lapsing<string>;

  constructor(clock: Clock, metrics: StateMetrics) {
    this.#metrics = metrics;
    this.#tokens = new Lapsing(clock);
  }

  async acquire(object: string, name: string, ttl: number): Promise<Lock | undefined> {
    const key = keyOf({ object, name });
    checkTtl(ttl);
    return this.#done("acquire", () => {
      if (this.#tokens.get(key) !== undefined) return undefined;
      const token = uniqueToken();
      this.#tokens.set(key, token, ttl);
      return { object, name, token };
    });
  }

  async renew(lock: Lock, ttl: number): Promise<boolean> {
    const key = keyOf(lock);
    checkTtl(ttl);
    return this.#done("renew", () => {
      const held = this.#tokens.get(key) === lock.token;
      if (held) this.#tokens.set(key, lock.token, ttl);
      return held;
    });
  }

  async release(lock: Lock): Promise<boolean> {
    const key = keyOf(lock);
    return this.#done("release", () => {
      const held = this.#tokens.get(key) === lock.token;
      if (held) this.#tokens.delete(key);
      return held;
    });
  }

  #done<T>(operation: "acquire" | "renew" | "release", work: () => T): Promise<T> {
    return counted(this.#metrics, operation, () => Promise.resolve(work()));
  }
}

function keyOf({ object, name }: Pick<Lock, "object" | "name">): string {
  return `${checkName("object", object)} ${checkName("lock", name)}`;
}
