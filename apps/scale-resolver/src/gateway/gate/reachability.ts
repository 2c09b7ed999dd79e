import { connect } from "node:net";
import type { Clock } from "@evenkeel/runtime";

/** Milliseconds. */
const FIRST_WAIT = 10;
const LONGEST_WAIT = 250;
const CONNECT_TIMEOUT = 1_000;
/** Milliseconds without a refusal after which the backoff starts again. */
const FORGOTTEN = 1_000;

/**
 * Detects when an address that refused connections accepts them, with test connections after 10, 20, 40, … and at most
 * 250 ms. One timer and one connection per address, for any number of waiting requests.
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

  /** Whether a connection was refused and none has succeeded since. */
  get isRefusing(): boolean {
    return this.#cancel !== undefined;
  }

  refused(): void {
    if (this.isRefusing) return;
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
