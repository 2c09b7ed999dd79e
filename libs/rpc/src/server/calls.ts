import { explain, type Logger } from "@evenkeel/runtime";
import { Status } from "nice-grpc-common";
import { Draining, TooBusy } from "../errors.ts";
import type { RpcServerMetrics } from "../metrics.ts";
import { type Outcome, outcomeOf, statusName, type StatusTable } from "../status.ts";

export interface CallLimits {
  readonly calls: number;
  readonly streams: number;
}

/** What is said of a call in metrics and log. */
export interface CallName {
  readonly service: string;
  readonly method: string;
  readonly statuses?: StatusTable | undefined;
  /** Not counted against the limits. */
  readonly unlimited?: boolean;
}

/** A call that failed, told apart from what a handler throws: the caller has been judged by `outcomeOf` once. */
export class CallFailed extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome, cause: unknown) {
    super(outcome.message, { cause });
    this.outcome = outcome;
  }
}

/** Why a stream's signal aborts when the process drains. */
const DRAIN = new Error("this replica is shutting down");

/**
 * All calls in progress, over gRPC and HTTP: it bounds them, counts how they end, and ends streams in good order
 * when the process stops. Every failure leaves it as a `CallFailed`.
 */
export class Calls {
  readonly #limits: CallLimits;
  readonly #metrics: RpcServerMetrics;
  readonly #log: Logger;
  readonly #streams = new Set<AbortController>();
  #unary = 0;
  #draining = false;
  #ended = (): void => undefined;

  constructor(limits: CallLimits, metrics: RpcServerMetrics, log: Logger) {
    this.#limits = limits;
    this.#metrics = metrics;
    this.#log = log;
    this.#measure();
  }

  /** How many are in progress. */
  get open(): number {
    return this.#unary + this.#streams.size;
  }

  /** Resolves when none is in progress. */
  async ended(): Promise<void> {
    while (this.open > 0) await new Promise<void>((resolve) => (this.#ended = resolve));
  }

  /** Accepts no further calls and ends every stream as if its source had ended. Calls with one answer finish. */
  drain(): void {
    this.#draining = true;
    for (const stream of this.#streams) stream.abort(DRAIN);
  }

  async unary<T>(name: CallName, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      this.#admit(name, this.#unary, this.#limits.calls, "calls");
      this.#unary += 1;
      this.#measure();
      try {
        const response = await work(signal);
        this.#count(name, Status.OK);
        return response;
      } finally {
        this.#unary -= 1;
        this.#measure();
      }
    } catch (error) {
      throw this.#failed(name, error, signal);
    }
  }

  /** Ends when the source does, when the process drains, or, with a failure, when `signal` aborts. */
  async *stream<T>(
    name: CallName,
    signal: AbortSignal,
    open: (signal: AbortSignal) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const ending = new AbortController();
    const cancel = () => ending.abort(signal.reason);
    let status = Status.CANCELLED;
    try {
      this.#admit(name, this.#streams.size, this.#limits.streams, "streams");
      this.#streams.add(ending);
      this.#measure();
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
      yield* untilAborted(open(ending.signal), ending.signal);
      signal.throwIfAborted();
      status = Status.OK;
    } catch (error) {
      if (ending.signal.reason === DRAIN) {
        status = Status.OK;
        return;
      }
      const failed = this.#failure(name, error, signal);
      ({ status } = failed.outcome);
      throw failed;
    } finally {
      ending.abort();
      signal.removeEventListener("abort", cancel);
      this.#streams.delete(ending);
      this.#measure();
      this.#count(name, status);
    }
  }

  #admit(name: CallName, open: number, limit: number, what: string): void {
    if (this.#draining) throw new Draining({});
    if (open >= limit && !name.unlimited) throw new TooBusy({ limit, what });
  }

  #failed(name: CallName, error: unknown, signal: AbortSignal): CallFailed {
    const failed = this.#failure(name, error, signal);
    this.#count(name, failed.outcome.status);
    return failed;
  }

  #failure({ service, method, statuses }: CallName, error: unknown, signal: AbortSignal): CallFailed {
    if (signal.aborted) {
      return new CallFailed({ status: Status.CANCELLED, code: undefined, message: "the caller disconnected" }, error);
    }
    const outcome = outcomeOf(error, statuses);
    if (outcome.status === Status.INTERNAL) {
      this.#log.error({ error, method: `${service}/${method}` }, `a call failed: ${explain(error)}`);
    }
    return new CallFailed(outcome, error);
  }

  #count({ service, method }: CallName, status: Status): void {
    this.#metrics.handled.inc({ grpc_service: service, grpc_method: method, grpc_code: statusName(status) });
  }

  #measure(): void {
    this.#metrics.open.set({ kind: "unary" }, this.#unary);
    this.#metrics.open.set({ kind: "stream" }, this.#streams.size);
    if (this.open === 0) this.#ended();
  }
}

/** What `source` gives until it ends or `signal` aborts, even if the source does not heed it. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const result = await orAborted(iterator.next(), signal);
      if (!result || result.done) return;
      yield result.value;
    }
  } finally {
    // Not awaited: a source that ignores the signal would keep the call open. What it throws then is ignored.
    void iterator.return?.().catch(() => undefined);
  }
}

/**
 * The result of `work`, or nothing as soon as `signal` aborts. It leaves no listener behind, however often it is
 * called.
 */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = () => resolve(undefined);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
