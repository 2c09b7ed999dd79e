import type { Clock } from "@evenkeel/runtime";
import { ApiFault } from "../status.ts";

/** Milliseconds of one slice of work. */
const SLICE = 3;
/** Milliseconds until a key is retried after the API server refused its task. */
const RETRY = 1000;

/**
 * Runs a task for each key that was added, after the call that added it is over and once however often it was added
 * meanwhile. Works in slices, so that a thousand keys do not block other work. A key that the API server refused is
 * retried a second later.
 */
export class Work {
  readonly #clock: Clock;
  readonly #task: (key: string) => void;
  readonly #keys = new Set<string>();
  readonly #timers = new Map<string, () => void>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, task: (key: string) => void) {
    this.#clock = clock;
    this.#task = task;
  }

  add(key: string): void {
    this.#keys.add(key);
    this.#cancel ??= this.#nextTurn();
  }

  /** Adds a key after `delay` milliseconds, instead of an earlier delay. */
  addAfter(delay: number, key: string): void {
    this.#timers.get(key)?.();
    const cancel = this.#clock.schedule(delay, () => {
      this.#timers.delete(key);
      this.add(key);
    });
    this.#timers.set(key, cancel);
  }

  stop(): void {
    this.#cancel?.();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#keys.clear();
  }

  /**
   * Timers that are due run one after the other before anything is read or written; immediates leave room for that in
   * between.
   */
  #nextTurn(): () => void {
    return this.#clock.schedule(0, () => setImmediate(() => this.#run()));
  }

  #run(): void {
    const end = this.#clock.monotonic() + SLICE;
    for (const key of this.#keys) {
      this.#keys.delete(key);
      this.#attempt(key);
      if (this.#clock.monotonic() >= end) break;
    }
    this.#cancel = this.#keys.size === 0 ? undefined : this.#nextTurn();
  }

  #attempt(key: string): void {
    try {
      this.#task(key);
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      this.addAfter(RETRY, key);
    }
  }
}
