import { createHash } from "node:crypto";
import type { PrometheusClient, QueryOutcome } from "@evenkeel/prometheus";
import type { Clock } from "@evenkeel/runtime";
import type { Server } from "./prometheus-trigger.ts";

export interface SharedAnswersOptions {
  readonly client: Pick<PrometheusClient, "query">;
  readonly clock: Clock;
  /** Milliseconds for which an answer is good. */
  readonly life: number;
}

/** Milliseconds for an answer, with the wait for a turn. The original's. */
const TIMEOUT = 5000;
/** Answers that are kept; beyond that the oldest go. */
const MOST = 20_000;

interface Kept {
  /** When it was asked for, on the monotonic clock: a value is as old as the question. */
  readonly at: number;
  readonly outcome: Promise<QueryOutcome>;
}

/** Asks a server what several triggers ask of it once, and keeps the answer, whatever it is, for its life. */
export class SharedAnswers {
  readonly #options: SharedAnswersOptions;
  /** In the order in which they were asked for. */
  readonly #kept = new Map<string, Kept>();
  readonly #never = new AbortController().signal;

  constructor(options: SharedAnswersOptions) {
    this.#options = options;
  }

  /** The newest answer, or a new one if that is too old. Rejects only with the signal's reason; others go on waiting. */
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
      // One who leaves takes nothing from the others; the timeout ends what nobody waits for.
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

/** With what goes along: whoever is answered from here has shown the same credentials. */
function keyOf({ address, headers }: Server, query: string): string {
  const { origin, path, parameters, user } = address;
  const sorted = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const all = JSON.stringify([origin, path, parameters, user?.name, user?.password, sorted, query]);
  return createHash("sha256").update(all).digest("base64");
}

/** A server may repeat the token without the scheme before it. */
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
