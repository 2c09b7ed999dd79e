import { connect } from "node:net";
import type { Clock } from "@evenkeel/runtime";

/** Milliseconds. */
const FIRST_WAIT = 10;
const LONGEST_WAIT = 250;
const CONNECT_TIMEOUT = 1_000;
/** After how long without a refusal the ladder begins again at its foot. */
const FORGOTTEN = 1_000;

/**
 * Finds out when an address that refused connections takes them, by bare connections after 10, 20, 40, … and at most 250 ms. However
 * many requests wait for it, there is one timer and one connection.
 */
export class Reachability {
  readonly #clock: Clock;
  readonly #host: string;
  readonly #port: number;
  readonly #reached: () => void;
  #wait = FIRST_WAIT;
  #reachedAt = -Infinity;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, host: string, port: number, reached: () => void) {
    this.#clock = clock;
    this.#host = host;
    this.#port = port;
    this.#reached = reached;
  }

  /** Whether connections were refused and none has been made since. */
  get lost(): boolean {
    return this.#cancel !== undefined;
  }

  /** A connection was refused. */
  refused(): void {
    if (this.lost) return;
    if (this.#clock.monotonic() - this.#reachedAt > FORGOTTEN) this.#wait = FIRST_WAIT;
    this.#later();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #later(): void {
    const wait = this.#wait;
    this.#wait = Math.min(LONGEST_WAIT, wait * 2);
    this.#cancel = this.#clock.schedule(wait, () => this.#try());
  }

  #try(): void {
    const socket = connect({ host: this.#host, port: this.#port });
    let over = false;
    const end = (reached: boolean) => {
      if (over) return;
      over = true;
      cancelTimeout();
      socket.destroy();
      if (reached) {
        this.#cancel = undefined;
        this.#reachedAt = this.#clock.monotonic();
        this.#reached();
      } else this.#later();
    };
    const cancelTimeout = this.#clock.schedule(CONNECT_TIMEOUT, () => end(false));
    socket.once("connect", () => end(true));
    socket.on("error", () => end(false));
    this.#cancel = () => {
      over = true;
      cancelTimeout();
      socket.destroy();
    };
  }
}
