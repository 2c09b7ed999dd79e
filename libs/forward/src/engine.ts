import type { Clock, Logger } from "@evenkeel/runtime";
import type { Batch } from "./batch.ts";
import type { Refusal, Router } from "./destination.ts";
import type { Head } from "./exchange.ts";
import type { StrippedHeaders } from "./headers/stripped-headers.ts";
import type { Deadlines, ForwardLimits } from "./limits.ts";
import type { UnreadConnections } from "./client/unread-connections.ts";
import type { Tally } from "./tally.ts";
import type { Origins } from "./upstream/origins.ts";
import type { Wheel } from "./wheel.ts";

/** Shared by the exchanges of one listener. */
export interface Engine {
  /** The listener's name. */
  readonly listener: string;
  /** Number of open exchanges. */
  inFlight: number;
  /** Whether connections end after their next response. */
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
  /** The name in `Via`. */
  readonly proxy: string;
  /** Early data of all listeners: see `limits.earlyBytes`. */
  readonly early: { bytes: number };
  readonly group: Group;
  readonly strip: StrippedHeaders | undefined;
  /** The words of a refusal. `head` is undefined if the request could not be parsed. */
  readonly word: (refusal: Refusal, head: Head | undefined) => Refusal;
  readonly batch: Batch;
  readonly unread: UnreadConnections;
  /** Writes heads that no body has followed, at the end of the tick. */
  readonly flush: FlushQueue;
}

/** What the listeners of one group use together: see `limits.share`. */
export interface Group {
  /** Open client connections. */
  connections: number;
  /** Early data of these: see `limits.earlyBytes`. */
  earlyBytes: number;
}

export interface Flushable {
  flushHead(): void;
}

/**
 * The head of a response mostly arrives with its body, and is then written with it in one packet. A head alone, as
 * before the first server-sent event, is written at the end of the tick.
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
