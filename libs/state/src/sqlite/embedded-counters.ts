import type { Clock } from "@evenkeel/runtime";
import { checkCounts, checkName, checkTtl } from "../arguments.ts";
import { counted, type StateMetrics } from "../metrics.ts";
import type { Counters, Counts } from "../state.ts";
import { parseCounts, sumCounts } from "../stored-text.ts";

/** Counts by replica that expire, on a clock that does not jump. */
class ExpiringCounts {
  readonly #clock: Clock;
  readonly #byReplica = new Map<string, { readonly counts: Counts; readonly ends: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(replica: string, counts: Counts, ttl: number): void {
    this.#sweep();
    this.#byReplica.set(replica, { counts, ends: this.#clock.monotonic() + ttl });
  }

  delete(replica: string): void {
    this.#byReplica.delete(replica);
  }

  entries(): readonly (readonly [string, Counts])[] {
    this.#sweep();
    return [...this.#byReplica].map(([replica, { counts }]) => [replica, counts] as const);
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const [replica, { ends }] of this.#byReplica) if (ends <= now) this.#byReplica.delete(replica);
  }
}

/** Counts in memory. They need no file: the replicas that count are part of this process and end with it. */
export class EmbeddedCounters implements Counters {
  readonly #clock: Clock;
  readonly #metrics: StateMetrics;
  readonly #byObject = new Map<string, ExpiringCounts>();

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
      const replicas = this.#byObject.get(object) ?? new ExpiringCounts(this.#clock);
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
