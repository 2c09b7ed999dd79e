import type { Metrics } from "@evenkeel/metrics";
import type { Clock } from "@evenkeel/runtime";
import { DeadlineHeap } from "./deadline-heap.ts";
import { KeyQueue } from "./key-queue.ts";
import { RequeueLimiter, type RequeueLimits } from "./requeue-limiter.ts";
import { WorkqueueMeter } from "./workqueue-meter.ts";
import type { workqueueMetrics } from "./workqueue-metrics.ts";

/** `low` is for many keys that can wait, such as those of a whole list. */
export type Priority = "normal" | "low";

export interface WorkqueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly metrics?: Metrics<typeof workqueueMetrics> | undefined;
  readonly limits?: RequeueLimits;
}

export interface AddOptions {
  readonly priority?: Priority;
  /** Milliseconds until the key is due. */
  readonly after?: number;
}

export interface WorkItem {
  readonly key: string;
  readonly priority: Priority;
}

/** After this many keys of normal priority in a row one of low priority is taken, so that those never starve. */
const FAIR_TURN = 10;
/** A timer can last at most 24 days; for a later key the timer is set again once a day. */
const LONGEST_TIMER = 86_400_000;

/**
 * Keys to be processed. A waiting key is in the queue once, however often it is added. A key is processed by one worker
 * at a time; if it is added meanwhile, it is queued again when that worker is done. Keys of one priority are processed
 * in the order in which they were added.
 *
 * A delayed key is in the queue once too, at the earliest time for which it was added.
 */
export class Workqueue {
  readonly #clock: Clock;
  readonly #limiter: RequeueLimiter;
  readonly #meter: WorkqueueMeter;
  /** Waiting keys. */
  readonly #queued: Readonly<Record<Priority, KeyQueue>> = { normal: new KeyQueue(), low: new KeyQueue() };
  readonly #delayed = new DeadlineHeap();
  readonly #delayedPriority = new Map<string, Priority>();
  /** Keys that are being processed. */
  readonly #processing = new Set<string>();
  /** Keys that were added again while they are being processed. */
  readonly #dirty = new Map<string, Priority>();
  readonly #takers = new Set<(item: WorkItem | undefined) => void>();
  #normalInARow = 0;
  #shutDown = false;
  #cancelTimer: () => void = () => undefined;

  constructor({ name, clock, metrics, limits }: WorkqueueOptions) {
    this.#clock = clock;
    this.#limiter = new RequeueLimiter(clock, limits);
    this.#meter = new WorkqueueMeter(name, clock, metrics);
  }

  /** Waiting keys, without delayed keys and keys that are being processed. */
  get length(): number {
    return this.#queued.normal.size + this.#queued.low.size;
  }

  /**
   * Adds a key. If it is waiting already, the higher priority and the earlier time count. Nothing is added after
   * `shutDown`.
   */
  add(key: string, { priority = "normal", after = 0 }: AddOptions = {}): void {
    if (this.#shutDown) return;
    if (after > 0) this.#addLater(key, priority, after);
    else this.#addNow(key, priority);
  }

  /** Adds a key that failed, after its back-off. */
  addRateLimited(key: string, priority: Priority = "normal"): void {
    if (this.#shutDown) return;
    this.#meter.retried();
    this.add(key, { priority, after: this.#limiter.failed(key) });
  }

  /** Ends a key's back-off: its next failure counts as the first. */
  forget(key: string): void {
    this.#limiter.forget(key);
  }

  /** Failures of a key in a row. */
  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  /**
   * The next key, as soon as there is one, for the caller to process until `done`. Undefined when the queue is shut
   * down or the signal aborts.
   */
  take(signal: AbortSignal): Promise<WorkItem | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const item = this.#next();
    if (item !== undefined || this.#shutDown) return Promise.resolve(item);
    return new Promise((resolve) => {
      const give = (given: WorkItem | undefined) => {
        signal.removeEventListener("abort", leave);
        this.#takers.delete(give);
        resolve(given);
      };
      const leave = () => give(undefined);
      signal.addEventListener("abort", leave, { once: true });
      this.#takers.add(give);
    });
  }

  /** The key has been processed, with or without success. */
  done(key: string): void {
    if (!this.#processing.delete(key)) return;
    this.#meter.done(key);
    const again = this.#dirty.get(key);
    this.#dirty.delete(key);
    if (again !== undefined) this.#enqueue(key, again);
  }

  /** Drops all keys that wait or are delayed, and accepts no further keys. */
  shutDown(): void {
    this.#shutDown = true;
    this.#cancelTimer();
    this.#delayed.clear();
    this.#delayedPriority.clear();
    this.#dirty.clear();
    for (const keys of [this.#queued.normal, this.#queued.low]) while (keys.shift() !== undefined);
    this.#meter.emptied();
    for (const give of [...this.#takers]) give(undefined);
  }

  #addNow(key: string, priority: Priority): void {
    const planned = this.#delayedPriority.get(key);
    const higher = planned === "normal" ? planned : priority;
    if (planned !== undefined) {
      this.#delayed.delete(key);
      this.#delayedPriority.delete(key);
    }
    const present = this.#dirty.get(key) ?? this.#waitsAs(key);
    if (present === undefined) this.#meter.added();
    if (this.#processing.has(key)) {
      if (present !== "normal") this.#dirty.set(key, higher);
    } else if (present === undefined || (present === "low" && higher === "normal")) {
      this.#queued.low.delete(key);
      this.#enqueue(key, higher);
    }
  }

  #addLater(key: string, priority: Priority, after: number): void {
    // A key that is waiting now comes before any later time.
    if (this.#dirty.has(key) || this.#waitsAs(key) !== undefined) return;
    this.#delayed.add(key, this.#clock.monotonic() + after);
    if (this.#delayedPriority.get(key) !== "normal") this.#delayedPriority.set(key, priority);
    this.#setTimer();
  }

  #waitsAs(key: string): Priority | undefined {
    if (this.#queued.normal.has(key)) return "normal";
    return this.#queued.low.has(key) ? "low" : undefined;
  }

  #enqueue(key: string, priority: Priority): void {
    this.#queued[priority].add(key);
    this.#meter.queued(key, this.length);
    const [taker] = this.#takers;
    if (taker) taker(this.#next());
  }

  #next(): WorkItem | undefined {
    const { normal, low } = this.#queued;
    const priority = normal.size > 0 && (low.size === 0 || this.#normalInARow < FAIR_TURN) ? "normal" : "low";
    const key = this.#queued[priority].shift();
    if (key === undefined) return undefined;
    this.#normalInARow = priority === "normal" ? this.#normalInARow + 1 : 0;
    this.#processing.add(key);
    this.#meter.taken(key, this.length);
    return { key, priority };
  }

  #setTimer(): void {
    this.#cancelTimer();
    const due = this.#delayed.next;
    if (due === undefined) return;
    const wait = Math.min(Math.max(0, due - this.#clock.monotonic()), LONGEST_TIMER);
    this.#cancelTimer = this.#clock.schedule(wait, () => this.#release());
  }

  #release(): void {
    const now = this.#clock.monotonic();
    for (let key = this.#delayed.take(now); key !== undefined; key = this.#delayed.take(now)) {
      const priority = this.#delayedPriority.get(key) ?? "normal";
      this.#delayedPriority.delete(key);
      this.#addNow(key, priority);
    }
    this.#setTimer();
  }
}
