import { QueryQueueFull } from "./errors.ts";

/**
 * Queries to one server: a limited number at once, the others in a bounded queue. Tenants take turns, and the queries
 * of one tenant run first in, first out. A named tenant leaves a quarter of the slots to others, so that its slow
 * queries do not keep all of them.
 */
export class Lane {
  readonly #origin: string;
  readonly #width: number;
  readonly #bound: number;
  /** By tenant, the one whose turn is next first. No entry is empty. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #running = new Map<string, number>();

  constructor(origin: string, width: number, bound: number) {
    this.#origin = origin;
    this.#width = width;
    this.#bound = bound;
  }

  get idle(): boolean {
    return this.#running.size === 0 && this.#waiting.size === 0;
  }

  /**
   * Runs `work` when a slot is free. Rejects with the signal's reason if that aborts before, and with
   * EK_PROMETHEUS_QUERY_QUEUE_FULL at once if too many wait. Without a tenant, work may use all slots.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal, tenant = ""): Promise<T> {
    signal.throwIfAborted();
    if (this.#hasSlot(tenant)) this.#count(tenant, 1);
    else await this.#slot(signal, tenant);
    try {
      return await work();
    } finally {
      this.#count(tenant, -1);
      this.#next();
    }
  }

  /** Resolves when the slot is taken, which is counted before. */
  #slot(signal: AbortSignal, tenant: string): Promise<void> {
    const waiting = total([...this.#waiting.values()].map(({ size }) => size));
    if (waiting >= this.#bound) throw new QueryQueueFull({ waiting, origin: this.#origin });
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#remove(tenant, enter);
        reject(signal.reason as Error);
      };
      const enter = () => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      const queue = this.#waiting.get(tenant) ?? new Set();
      this.#waiting.set(tenant, queue.add(enter));
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  #next(): void {
    for (const [tenant, queue] of [...this.#waiting]) {
      const [first] = queue;
      if (first === undefined || !this.#hasSlot(tenant)) continue;
      this.#remove(tenant, first);
      // Behind the others: their turn is next.
      if (this.#waiting.delete(tenant)) this.#waiting.set(tenant, queue);
      this.#count(tenant, 1);
      first();
      return;
    }
  }

  #hasSlot(tenant: string): boolean {
    const share = tenant === "" ? this.#width : Math.ceil((this.#width * 3) / 4);
    return total([...this.#running.values()]) < this.#width && (this.#running.get(tenant) ?? 0) < share;
  }

  #remove(tenant: string, enter: () => void): void {
    const queue = this.#waiting.get(tenant);
    if (queue?.delete(enter) && queue.size === 0) this.#waiting.delete(tenant);
  }

  #count(tenant: string, by: 1 | -1): void {
    const count = (this.#running.get(tenant) ?? 0) + by;
    if (count === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, count);
  }
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
