import { QueryQueueFull } from "./errors.ts";

/** Queries to one server: a limited number at once, the others in a bounded queue, first in, first out. */
export class Lane {
  readonly #origin: string;
  readonly #width: number;
  readonly #bound: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(origin: string, width: number, bound: number) {
    this.#origin = origin;
    this.#width = width;
    this.#bound = bound;
  }

  get idle(): boolean {
    return this.#running === 0 && this.#waiting.size === 0;
  }

  /**
   * Runs `work` when a slot is free. Rejects with the signal's reason if that aborts before, and with
   * EK_PROMETHEUS_QUERY_QUEUE_FULL at once if too many wait.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#running >= this.#width) await this.#slot(signal);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Resolves when a slot is passed on, which never counts as free in between. */
  #slot(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#bound)
      throw new QueryQueueFull({ waiting: this.#waiting.size, origin: this.#origin });
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(enter);
        reject(signal.reason as Error);
      };
      const enter = () => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      this.#waiting.add(enter);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(first);
    first();
  }
}
