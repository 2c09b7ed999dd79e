import { type Clock, fullJitter, isRetryable, type Logger, sleep } from "@evenkeel/runtime";
import { kubeErrors, Refusal } from "@evenkeel/kube";

/** Backoff after transient failures, in milliseconds. */
const BACKOFF = { base: 100, cap: 2000 };

/** The wait after a failure that a person must fix, and the maximum that a server may ask for, in milliseconds. */
const SLOW = 5000;

/** The deadline of the first try, and the maximum after timeouts, in milliseconds. */
const DEADLINE = { first: 2000, longest: 10_000 };

/** The pause after a success: the first one, and the maximum after tries that had nothing to do, in milliseconds. */
const REST = { first: 1000, longest: 8000 };

/** The task of a key. */
export interface RetriedTask {
  /** Whether a request still waits for it. */
  readonly needed: () => boolean;
  /** Starts at once and resolves with whether there was something to do. Can be repeated. */
  readonly attempt: (options: AttemptOptions) => Promise<boolean>;
}

export interface AttemptOptions {
  /** Milliseconds. */
  readonly deadline: number;
  /** Whether a try succeeded before and the effect may only have been undone. */
  readonly again: boolean;
}

export interface RetriesOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** The start of a log message about a failure, such as `could not wake the workload`. */
  readonly failure: string;
}

interface Running {
  task: RetriedTask;
  /** How often the task was requested. */
  asks: number;
  resting: boolean;
}

/**
 * Runs one task per key until it succeeds or is no longer needed. After a success the key pauses. If the task was
 * requested meanwhile and is still needed, it runs once more after the pause, because another client may have undone
 * its effect. `fulfilled` ends a pause, because a later request needs a new run.
 */
export class Retries {
  readonly #options: RetriesOptions;
  readonly #running = new Map<string, Running>();
  readonly #end = new AbortController();

  constructor(options: RetriesOptions) {
    this.#options = options;
  }

  /** Number of keys with a running or paused task. */
  get size(): number {
    return this.#running.size;
  }

  /**
   * Returns when the first try has begun, and never throws. While the key is running, the newest task replaces the
   * previous one.
   */
  start(key: string, task: RetriedTask): void {
    if (this.#end.signal.aborted) return;
    const under = this.#running.get(key);
    if (under !== undefined) {
      under.task = task;
      under.asks += 1;
      return;
    }
    const running = { task, asks: 1, resting: false };
    this.#running.set(key, running);
    this.#run(key, running).catch((error: unknown) => {
      if (!this.#end.signal.aborted) this.#options.log.error({ key, error }, `${this.#options.failure}: a defect`);
    });
  }

  /** The task of the key has had its effect. */
  fulfilled(key: string): void {
    if (this.#running.get(key)?.resting === true) this.#running.delete(key);
  }

  /** Ends all retries. Tries in progress end by themselves. */
  stop(): void {
    this.#end.abort();
  }

  async #run(key: string, running: Running): Promise<void> {
    const { clock } = this.#options;
    let rest = REST.first;
    try {
      for (let again = false; ; again = true) {
        const done = await this.#untilDone(key, running, again);
        if (done === "unneeded") return;
        if (done === "changed") rest = REST.first;
        const { asks } = running;
        running.resting = true;
        await sleep(clock, rest, this.#end.signal);
        if (this.#running.get(key) !== running) return;
        running.resting = false;
        if (running.asks === asks || !running.task.needed()) return;
        rest = Math.min(rest * 2, REST.longest);
      }
    } finally {
      if (this.#running.get(key) === running) this.#running.delete(key);
    }
  }

  async #untilDone(key: string, running: Running, again: boolean): Promise<"changed" | "same" | "unneeded"> {
    const { clock, random, log, failure } = this.#options;
    const asked = clock.monotonic();
    const told = new Set<string>();
    let deadline = DEADLINE.first;
    for (let attempt = 0; ; attempt++) {
      try {
        const changed = await running.task.attempt({ deadline, again });
        if (told.size > 0) log.info({ key, milliseconds: clock.monotonic() - asked }, "succeeded after retries");
        return changed ? "changed" : "same";
      } catch (error) {
        this.#end.signal.throwIfAborted();
        const kind = error instanceof Error ? error.name : "";
        if (!told.has(kind)) log.warn({ key, error }, `${failure}; retrying while a request waits for it`);
        told.add(kind);
        // A slow server that always exceeds the deadline would never finish.
        if (error instanceof kubeErrors.Timeout) deadline = Math.min(deadline * 2, DEADLINE.longest);
        await sleep(clock, waitAfter(error, attempt, random), this.#end.signal);
        if (!running.task.needed()) return "unneeded";
      }
    }
  }
}

function waitAfter(error: unknown, attempt: number, random: () => number): number {
  if (!isRetryable(error)) return SLOW;
  const asked = error instanceof Refusal ? (error.retryAfter ?? 0) : 0;
  return Math.max(Math.min(asked, SLOW), fullJitter(BACKOFF, attempt, random));
}
