import type { Logger } from "@evenkeel/runtime";
import type { StateMetrics } from "./metrics.ts";

/** Whether the state answers, for those who must know. */
export class Availability {
  readonly #log: Logger;
  readonly #metrics: StateMetrics;
  readonly #listeners = new Set<(available: boolean) => void>();
  #available = false;

  constructor(log: Logger, metrics: StateMetrics) {
    this.#log = log;
    this.#metrics = metrics;
    metrics.available.set({}, 0);
  }

  get now(): boolean {
    return this.#available;
  }

  /** `cause` is why it is away. Saying the same again does nothing. */
  set(available: boolean, cause?: Error): void {
    if (available === this.#available) return;
    this.#available = available;
    this.#metrics.available.set({}, available ? 1 : 0);
    if (available) this.#log.info("the shared state is available");
    else this.#log.warn({ error: cause }, "the shared state is unavailable; the service continues from memory");
    for (const listener of [...this.#listeners]) listener(available);
  }

  onChange(listener: (available: boolean) => void): () => void {
    const own = (available: boolean) => listener(available);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}
