import { createHash } from "node:crypto";
import type { PrometheusClient, QueryOutcome } from "@evenkeel/prometheus";
import type { Clock } from "@evenkeel/runtime";
import type { Server } from "./prometheus-trigger.ts";

export interface SharedAnswersOptions {
  readonly client: Pick<PrometheusClient, "query">;
  readonly clock: Clock;
  /** Milliseconds for which an answer is valid. */
  readonly life: number;
}

/** Timeout in milliseconds, including the wait in the queue. The same as the original's. */
const TIMEOUT = 5000;
/** Maximum kept answers. The oldest are removed first. */
const MOST = 20_000;

interface Kept {
  /** When the query was sent, on the monotonic clock: a value is as old as its query. */
  readonly at: number;
  readonly outcome: Promise<QueryOutcome>;
}

/** Sends a query that several triggers share only once, and keeps its answer, also a failure, for its lifetime. */
export class SharedAnswers {
  readonly #options: SharedAnswersOptions;
  /** In the order of their queries. */
  readonly #kept = new Map<string, Kept>();
  readonly #never = new AbortController().signal;

  constructor(options: SharedAnswersOptions) {
    this.#options = options;
  }

  /**
   * The newest answer, or a new one if that is too old. Rejects only with the reason of the signal; other callers keep
   * waiting.
   */
  ask(server: Server, query: string, signal: AbortSignal): Promise<QueryOutcome> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const now = this.#options.clock.monotonic();
    const key = keyOf(server, query);
    const known = this.#kept.get(key);
    if (known && now - known.at < this.#options.life) return orAborted(known.outcome, signal);
    this.#sweep(now);
    const outcome = this.#options.client.query({
      address: server.address,
      query,
      headers: server.headers,
      secrets: Object.values(server.headers).flatMap(secretsOf),
      timeout: TIMEOUT,
      // The signal of one caller must not end the query for the others. The timeout ends it.
      signal: this.#never,
    });
    this.#kept.delete(key);
    this.#kept.set(key, { at: now, outcome });
    return orAborted(outcome, signal);
  }

  get kept(): number {
    return this.#kept.size;
  }

  #sweep(now: number): void {
    for (const [key, { at }] of this.#kept) {
      if (now - at < this.#options.life && this.#kept.size < MOST) return;
      this.#kept.delete(key);
    }
  }
}

/** Includes the headers, so that only callers with the same credentials share an answer. */
function keyOf({ address, headers }: Server, query: string): string {
  const { origin, path, parameters, user } = address;
  const sorted = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const all = JSON.stringify([origin, path, parameters, user?.name, user?.password, sorted, query]);
  return createHash("sha256").update(all).digest("base64");
}

/** A server may repeat the token without its scheme. */
function secretsOf(value: string): readonly string[] {
  return [value, ...value.split(" ").slice(1)];
}

/** `signal` has not aborted yet. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
