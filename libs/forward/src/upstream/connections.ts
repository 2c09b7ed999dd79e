import type { Socket } from "node:net";
import { toError } from "@evenkeel/runtime";
import type { Batch, PlannedWrite } from "../batch.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { PlainTry } from "./plain-try.ts";

/** Milliseconds before the end that an upstream announces for idle connections at which they are closed here. */
const MARGIN = 2_000;

export interface ConnectionsOptions {
  readonly open: () => Socket;
  readonly isTls: boolean;
  readonly headBytes: number;
  /** Maximum number of connections. More requests wait. */
  readonly most: number;
  /** Milliseconds after which idle connections are closed. */
  readonly idle: number;
  readonly batch: Batch;
  readonly now: () => number;
  /** A connection must be closed at this time, which may be earlier than `sweep` would be called. */
  readonly due: (until: number) => void;
}

/**
 * The connections to one origin for requests without a body. A connection is chosen when the request is written, at the
 * end of an event loop iteration: a connection that the upstream closed before the request came is then known to be
 * closed. It is used again one iteration after its response, so that unrequested bytes are seen before.
 */
export class Connections implements ConnectionOwner, PlannedWrite {
  readonly #options: ConnectionsOptions;
  readonly #all = new Set<Connection>();
  /** The most recently used is last. */
  #free: Connection[] = [];
  #resting: Connection[] = [];
  readonly #waiting = new Set<PlainTry>();
  #isClosed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  carry(asked: PlainTry): void {
    const free = this.#free.pop();
    if (free) free.carry(asked);
    else if (this.#all.size < this.#options.most) this.#open(asked);
    else this.#waiting.add(asked);
  }

  /** The try needs no connection any longer. */
  forget(asked: PlainTry): void {
    this.#waiting.delete(asked);
  }

  rests(connection: Connection): void {
    if (this.#resting.push(connection) === 1) this.#options.batch.toClient(this);
  }

  gone(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    if (!this.#isClosed) this.#next();
  }

  /** Those that rested in this iteration are free for the next one. */
  write(): void {
    const { now, idle, due } = this.#options;
    const rested = this.#resting;
    this.#resting = [];
    const at = now();
    for (const connection of rested) {
      if (connection.isGone) continue;
      const left = Math.min(idle, connection.keptFor - MARGIN);
      connection.until = at + left;
      if (left <= 0) connection.destroy();
      else this.#free.push(connection);
      if (left > 0 && left < idle) due(connection.until);
    }
    while (this.#waiting.size > 0 && this.#free.length > 0) this.#next();
  }

  /** Closes those that were idle for too long. Returns when the next one will be; Infinity without one. */
  sweep(now: number): number {
    let next = Infinity;
    for (const connection of [...this.#free]) {
      if (connection.until <= now) connection.destroy();
      else next = Math.min(next, connection.until);
    }
    return next;
  }

  close(): void {
    this.#isClosed = true;
    const error = new Error("the pool is closed");
    for (const connection of [...this.#all]) connection.fail(error);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const asked of waiting) asked.fail(error);
  }

  #open(first: PlainTry): void {
    const { open, isTls, headBytes } = this.#options;
    let socket: Socket;
    try {
      socket = open();
    } catch (error) {
      first.fail(toError(error));
      return;
    }
    this.#all.add(new Connection(socket, isTls, this, headBytes, first));
  }

  /** A connection is free, or another may be opened. */
  #next(): void {
    for (const asked of this.#waiting) {
      this.#waiting.delete(asked);
      this.carry(asked);
      return;
    }
  }
}
