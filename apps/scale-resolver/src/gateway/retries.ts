import { type Clock, fullJitter, isRetryable, type Logger, sleep } from "@evenkeel/runtime";
import { kubeErrors, Refusal } from "@evenkeel/kube";

/** Waits after failures that pass, in milliseconds. */
const BACKOFF = { base: 100, cap: 2000 };

/** The wait after a failure that somebody must put right, and the longest that a server may ask for, in milliseconds. */
const SLOW = 5000;

/** How long a try may take: at first, and at most after tries that took longer, in milliseconds. */
const DEADLINE = { first: 2000, longest: 10_000 };

/** How long nothing is done after a success: at first, and at most after tries that had nothing to do, in milliseconds. */
const REST = { first: 1000, longest: 8000 };

/** What is to be done for a key. */
export interface RetriedTask {
  /** Whether somebody still waits for it. */
  readonly needed: () => boolean;
  /** Begins at once and resolves with whether there was something to do. Repeating it must do no harm. */
  readonly attempt: (terms: Terms) => Promise<boolean>;
}

export interface Terms {
  /** Milliseconds. */
  readonly deadline: number;
}

export interface RetriesOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** The beginning of a log line about a failure, such as `could not wake the workload`. */
  readonly undone: string;
}

interface Running {
  task: RetriedTask;
  /** How often it was asked for. */
  asks: number;
  resting: boolean;
}

/**
 * One thing for each key, done until it succeeds or nobody waits for it any more. After a success the key rests; if it was asked for
 * meanwhile and somebody still waits, it is done once more after the rest, since what was done may have been undone. A rest is over
 * when what was done is known to have had its effect: who asks then asks for something new.
 */
export class Retries {
  readonly #options: RetriesOptions;
  readonly #running = new Map<string, Running>();
  readonly #end = new AbortController();

  constructor(options: RetriesOptions) {
    this.#options = options;
  }

  /** Keys whose task runs or rests. */
  get size(): number {
    return this.#running.size;
  }

  /** Returns when the first try has begun, and never throws. While the key is running, the newest task replaces the one before. */
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
      if (!this.#end.signal.aborted) this.#options.log.error({ key, error }, `${this.#options.undone}: a defect`);
    });
  }

  /** What was done for the key has had its effect. */
  fulfilled(key: string): void {
    if (this.#running.get(key)?.resting === true) this.#running.delete(key);
  }

  /** Nothing is tried any more. What is under way ends by itself. */
  stop(): void {
    this.#end.abort();
  }

  async #run(key: string, running: Running): Promise<void> {
    const { clock } = this.#options;
    let rest = REST.first;
    try {
      for (;;) {
        const done = await this.#untilDone(key, running);
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

  async #untilDone(key: string, running: Running): Promise<"changed" | "same" | "unneeded"> {
    const { clock, random, log, undone } = this.#options;
    const asked = clock.monotonic();
    const told = new Set<string>();
    let deadline = DEADLINE.first;
    for (let attempt = 0; ; attempt++) {
      try {
        const changed = await running.task.attempt({ deadline });
        if (told.size > 0) log.info({ key, milliseconds: clock.monotonic() - asked }, "succeeded after retries");
        return changed ? "changed" : "same";
      } catch (error) {
        this.#end.signal.throwIfAborted();
        const kind = error instanceof Error ? error.name : "";
        if (!told.has(kind)) log.warn({ key, error }, `${undone}; retrying while a request waits for it`);
        told.add(kind);
        // A slow server that is cut off each time would never get it done.
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
