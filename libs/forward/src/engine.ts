import type { Clock, Logger } from "@evenkeel/runtime";
import type { Batch } from "./batch.ts";
import type { Router } from "./destination.ts";
import type { Deadlines, ForwardLimits } from "./limits.ts";
import type { UnreadConnections } from "./client/unread-connections.ts";
import type { Tally } from "./tally.ts";
import type { Origins } from "./upstream/origins.ts";
import type { Wheel } from "./wheel.ts";

/** What the exchanges of one listener share. */
export interface Engine {
  /** The listener's name. */
  readonly listener: string;
  /** Exchanges that it has open. */
  inFlight: number;
  /** Answers end their connections from now on. */
  draining: boolean;
  /** Called after each exchange. */
  readonly settled: () => void;
  readonly router: Router;
  readonly limits: ForwardLimits;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  readonly log: Logger;
  readonly wheel: Wheel;
  readonly tally: Tally;
  readonly origins: Origins;
  /** The name that stands in `Via`. */
  readonly proxy: string;
  readonly batch: Batch;
  readonly unread: UnreadConnections;
  /** Writes heads that nothing has followed, at the end of the tick. */
  readonly flush: FlushQueue;
}

export interface Flushable {
  flushHead(): void;
}

/**
 * The head of an answer mostly comes with its body, and then goes out with it in one packet. Heads on their own, as before the
 * first server-sent event, are written at the end of the tick.
 */
export class FlushQueue {
  #waiting: Flushable[] = [];

  add(flushable: Flushable): void {
    if (this.#waiting.push(flushable) === 1) queueMicrotask(this.#flush);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const flushable of waiting) flushable.flushHead();
  };
}
