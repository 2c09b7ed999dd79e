import { randomUUID } from "node:crypto";
import type { Metrics } from "@evenkeel/metrics";
import { type Clock, CodedError, type Logger, type Loop, runtimeErrors, type Term } from "@evenkeel/runtime";
import { ActOvertaken } from "../errors.ts";
import type { controllerMetrics } from "./controller-metrics.ts";
import type { KeySource } from "./controller-source.ts";
import type { ObjectName } from "../objects/object.ts";
import { nameOfKey } from "../objects/object-key.ts";
import type { RequeueLimits } from "../queue/requeue-limiter.ts";
import { type WorkItem, Workqueue } from "../queue/workqueue.ts";
import type { workqueueMetrics } from "../queue/workqueue-metrics.ts";

/** What happens after a reconcile. */
export interface Result {
  /** Milliseconds after which the object is reconciled again, even if nothing changes. */
  readonly requeueAfter?: number;
}

export interface ReconcileContext {
  /** Aborts at the reconcile's deadline and at the end of the term. Pass it to every call that waits. */
  readonly signal: AbortSignal;
  /** The term of leadership; its fencing token goes with writes of shared state. */
  readonly term: Term;
  /** With the object and the reconcile's id. */
  readonly log: Logger;
  readonly id: string;
}

/**
 * Brings the cluster to what the object asks for, from any state. It gets the object's name, and the object may be
 * gone. It never runs twice at a time for one object.
 *
 * If it rejects, it is called again after a growing wait, unless the error's catalogue entry calls it terminal: then
 * when something changes, and every five minutes, because what changes may be nothing that is watched, such as a
 * right. An error without a code counts as retryable. ActOvertaken, which a last look throws, is
 * no failure: it is called again at once.
 */
export type Reconcile = (object: ObjectName, context: ReconcileContext) => Promise<Result | undefined>;

export interface ControllerOptions {
  readonly name: string;
  readonly sources: readonly KeySource[];
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics<typeof controllerMetrics> | undefined;
  readonly queueMetrics?: Metrics<typeof workqueueMetrics> | undefined;
  /** Maximum concurrent reconciles, each of a different object. Default 1. */
  readonly workers?: number;
  /**
   * Milliseconds after which a reconcile's signal aborts, for all objects or for each; default 60 s. The reconcile is
   * still awaited, because its object must not be reconciled twice at a time.
   */
  readonly deadline?: number | ((object: ObjectName) => number);
  readonly limits?: RequeueLimits;
}

/** Milliseconds between two reconciles of an object whose error is terminal. */
const TERMINAL_RETRY = 300_000;

/**
 * A loop that reconciles every key of its sources, and again whenever they enqueue it. Each term starts with every key,
 * so it finds what the leader before it left undone. Nothing that was queued in a former term is processed.
 */
export function controller(options: ControllerOptions): Loop {
  return async (term) => {
    try {
      await Promise.all(options.sources.map((source) => source.whenSynced(term.signal)));
    } catch (error) {
      if (term.signal.aborted) return;
      throw error;
    }
    await new ControllerRun(options, term).run();
  };
}

class ControllerRun {
  readonly #options: ControllerOptions;
  readonly #term: Term;
  readonly #queue: Workqueue;
  readonly #label: { readonly controller: string };

  constructor(options: ControllerOptions, term: Term) {
    const { name, clock, limits, queueMetrics } = options;
    this.#options = options;
    this.#term = term;
    this.#label = { controller: name };
    this.#queue = new Workqueue({ name, clock, metrics: queueMetrics, ...(limits ? { limits } : {}) });
  }

  async run(): Promise<void> {
    const { sources, workers = 1, metrics } = this.#options;
    metrics?.most.set(this.#label, workers);
    metrics?.active.set(this.#label, 0);
    const ends = sources.map((source) => source.subscribe((key, priority) => this.#queue.add(key, { priority })));
    try {
      await Promise.all(Array.from({ length: workers }, () => this.#work()));
    } finally {
      for (const end of ends) end();
      this.#queue.shutDown();
    }
  }

  async #work(): Promise<void> {
    const { signal } = this.#term;
    for (let item = await this.#queue.take(signal); item; item = await this.#queue.take(signal)) {
      this.#options.metrics?.active.add(this.#label, 1);
      try {
        await this.#handle(item);
      } finally {
        this.#options.metrics?.active.add(this.#label, -1);
        this.#queue.done(item.key);
      }
    }
  }

  /** Decides requeue, metric and log line together. */
  async #handle({ key, priority }: WorkItem): Promise<void> {
    const { name, clock, metrics } = this.#options;
    const id = randomUUID();
    const log = this.#options.log.child({ controller: name, object: key, reconcile: id });
    const began = clock.monotonic();
    try {
      const result = await this.#reconcile(key, id, log);
      this.#queue.forget(key);
      const requeueAfter = result?.requeueAfter;
      if (requeueAfter !== undefined) this.#queue.add(key, { priority, after: requeueAfter });
      metrics?.reconciles.inc({ ...this.#label, result: requeueAfter === undefined ? "success" : "requeue_after" });
    } catch (error) {
      if (this.#term.signal.aborted) {
        log.debug({ error }, "the term ended during the reconcile");
        return;
      }
      if (error instanceof ActOvertaken) {
        metrics?.reconciles.inc({ ...this.#label, result: "overtaken" });
        this.#queue.forget(key);
        this.#queue.add(key, { priority });
        log.info({ error }, "the object changed during the reconcile; it is reconciled again");
        return;
      }
      metrics?.reconciles.inc({ ...this.#label, result: "error" });
      metrics?.errors.inc(this.#label);
      if (error instanceof runtimeErrors.DeadlineExceeded) metrics?.timeouts.inc(this.#label);
      if (error instanceof CodedError && error.recovery === "terminal") {
        metrics?.terminal.inc(this.#label);
        this.#queue.forget(key);
        this.#queue.add(key, { priority: "low", after: TERMINAL_RETRY });
        log.error({ error }, "the reconcile failed; it is retried when something changes, or in five minutes");
      } else {
        this.#queue.addRateLimited(key, priority);
        log.warn({ error, failures: this.#queue.failures(key) }, "the reconcile failed; it will be retried");
      }
    } finally {
      metrics?.duration.observe(this.#label, (clock.monotonic() - began) / 1000);
    }
  }

  async #reconcile(key: string, id: string, log: Logger): Promise<Result | undefined> {
    const { clock, reconcile, deadline = 60_000 } = this.#options;
    const name = nameOfKey(key);
    const milliseconds = typeof deadline === "number" ? deadline : deadline(name);
    const term = this.#term;
    const aborting = new AbortController();
    const end = () => aborting.abort(term.signal.reason);
    term.signal.addEventListener("abort", end, { once: true });
    if (term.signal.aborted) end();
    const exceeded = new runtimeErrors.DeadlineExceeded({ what: `the reconcile of ${key}`, milliseconds });
    const cancel = clock.schedule(milliseconds, () => aborting.abort(exceeded));
    try {
      return await reconcile(name, { signal: aborting.signal, term, log, id });
    } catch (error) {
      // Whatever error an aborted call throws, the deadline is the cause. A last look does not wait, so it has its own.
      const ownCause = error === exceeded || error instanceof ActOvertaken;
      if (aborting.signal.reason === exceeded && !ownCause) {
        throw new runtimeErrors.DeadlineExceeded({ what: `the reconcile of ${key}`, milliseconds }, { cause: error });
      }
      throw error;
    } finally {
      cancel();
      term.signal.removeEventListener("abort", end);
    }
  }
}
