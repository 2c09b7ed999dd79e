import { type Clock, CodedError, runtimeErrors, withDeadline } from "@evenkeel/runtime";
import type { Redis } from "ioredis";
import { Corrupt, NoAnswer, Refused, Unavailable } from "../errors.ts";
import { counted, type Operation, type StateMetrics } from "../metrics.ts";
import type { RedisConnection } from "./connection.ts";
import type { Scripts } from "./scripts.ts";

/**
 * Calls that may wait for an answer at once. More means that Redis does not keep up; they fail at once, and memory
 * stays bounded.
 */
const IN_FLIGHT_LIMIT = 1000;

export interface CallsOptions {
  readonly connection: () => RedisConnection;
  readonly clock: Clock;
  readonly metrics: StateMetrics;
  /** How long one call may take, in milliseconds. */
  readonly deadline: number;
  /** Redis answers, but cannot do what it is asked now. */
  readonly onRefused: (error: Error) => void;
}

/**
 * Replies to a command that did nothing, since the server cannot do it now: it loads, is no master, or cannot write or
 * replicate.
 */
const AWAY = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|MISCONF|NOREPLICAS)\b|READONLY/;

/** Makes every call end in time, and its failures speak the catalogue's language. */
export class Calls {
  readonly #options: CallsOptions;
  #inFlight = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** `key` is named if it holds what it should not. */
  run<T>(operation: Operation, key: string, call: (client: Redis & Scripts) => Promise<T>): Promise<T> {
    return counted(this.#options.metrics, operation, () => this.#run(operation, key, call));
  }

  async #run<T>(operation: Operation, key: string, call: (client: Redis & Scripts) => Promise<T>): Promise<T> {
    const { connection, clock, deadline: milliseconds } = this.#options;
    const { client, isReady } = connection();
    if (!isReady) throw new Unavailable({ operation }, { cause: new Error(`the connection is ${client.status}`) });
    if (this.#inFlight >= IN_FLIGHT_LIMIT) {
      throw new Unavailable({ operation }, { cause: new Error(`${IN_FLIGHT_LIMIT} calls wait for an answer already`) });
    }
    this.#inFlight++;
    try {
      return await withDeadline({ clock, milliseconds, what: `${operation} on ${key}` }, () => call(client));
    } catch (error) {
      const meaning = explained(error, operation, key);
      if (meaning instanceof Unavailable && isRefusal(error)) this.#options.onRefused(meaning);
      throw meaning;
    } finally {
      this.#inFlight--;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError" && AWAY.test(error.message);
}

function explained(error: unknown, operation: Operation, key: string): unknown {
  if (error instanceof runtimeErrors.DeadlineExceeded) return new NoAnswer({ operation }, { cause: error });
  if (error instanceof CodedError || !(error instanceof Error)) return error;
  const { message } = error;
  if (error.name !== "ReplyError") {
    const notSent = message.startsWith("Stream isn't writeable");
    return new (notSent ? Unavailable : NoAnswer)({ operation }, { cause: error });
  }
  if (isRefusal(error)) return new Unavailable({ operation }, { cause: error });
  if (message.includes("WRONGTYPE")) return new Corrupt({ key, fault: "it is of another type" }, { cause: error });
  return new Refused({ operation }, { cause: error });
}
