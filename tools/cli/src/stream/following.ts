import { type Clock, type Decision, fullJitter, isRetryable, sleep } from "@evenkeel/runtime";
import { Refused, StreamCut } from "../errors.ts";
import { fieldsOf, textOf } from "../wire.ts";
import type { ServerSentEvent } from "./server-sent-events.ts";

const BACKOFF = { base: 500, cap: 15_000 };

/** Number of past decisions that are requested after a gap: the maximum of a service. */
const CATCH_UP = 1000;

/** Number of remembered IDs: a repeated decision is among those that were requested again. */
const REMEMBERED = 2 * CATCH_UP;

/** One service's stream of decisions, which can be opened again. */
export interface DecisionFeed {
  readonly place: string;
  open(last: number): Promise<AsyncIterable<ServerSentEvent>>;
  decisionOf(value: unknown): Decision;
}

export interface FollowOptions {
  readonly feed: DecisionFeed;
  /** Number of past decisions at the start; at least 1. */
  readonly last: number;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called once per outage when the stream breaks, with the milliseconds until it is reopened. */
  readonly onOutage: (error: unknown, wait: number) => void;
  /** Called when it is open again. */
  readonly onReturn: () => void;
}

/**
 * Decisions in the order of the service, across restarts and broken connections. After each gap past decisions are
 * requested again, and those that were already yielded are skipped. Ends when the signal aborts. Fails when the service
 * refuses permanently.
 */
export async function* followDecisions(options: FollowOptions): AsyncGenerator<Decision, void, undefined> {
  const { feed, last, clock, random, signal } = options;
  const yielded = new Yielded();
  let failures = 0;
  for (let opened = false; ;) {
    try {
      const events = await feed.open(opened ? CATCH_UP : last);
      if (failures > 0) options.onReturn();
      opened = true;
      for await (const event of events) {
        const decision = feed.decisionOf(fieldsOf(dataOf(feed.place, event))["decision"]);
        failures = 0;
        if (yielded.isNews(decision)) yield decision;
      }
      throw new StreamCut({ place: feed.place, fault: "the connection was closed" });
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      const wait = Math.ceil(fullJitter(BACKOFF, failures, random));
      if (failures === 0) options.onOutage(error, wait);
      failures++;
      try {
        await sleep(clock, wait, signal);
      } catch {
        return;
      }
    }
  }
}

/** The data of an event; an `end` or `error` event ends the stream. */
function dataOf(place: string, { event, data }: ServerSentEvent): unknown {
  const value: unknown = JSON.parse(data);
  if (event === "end") throw new StreamCut({ place, fault: "the service closed the stream" });
  if (event === "error") {
    const { code, message } = fieldsOf(value);
    throw new StreamCut({ place, fault: `${textOf(message)} (${textOf(code)})` });
  }
  return value;
}

/** Whether a later attempt may succeed: a service that restarts does not answer for a while. */
function isTransient(error: unknown): boolean {
  return isRetryable(error) || (error instanceof Refused && (error.status === 429 || error.status >= 500));
}

/** The decisions that were already yielded. */
class Yielded {
  readonly #ids = new Set<string>();
  /** Time of the first decision: an older one that arrives later is from before the start. */
  #beginning: number | undefined;

  isNews({ id, at }: Decision): boolean {
    const time = Date.parse(at);
    this.#beginning ??= time;
    if (this.#ids.has(id) || time < this.#beginning) return false;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > REMEMBERED && oldest !== undefined) this.#ids.delete(oldest);
    return true;
  }
}
