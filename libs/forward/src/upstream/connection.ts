import type { Socket } from "node:net";
import { toError } from "@evenkeel/runtime";
import type { PlainTry } from "./plain-try.ts";
import { ResponseReader } from "./response-reader.ts";

/** What a connection tells its pool. */
export interface ConnectionOwner {
  /** Its response is complete, and it can carry another request. */
  rests(connection: Connection): void;
  /** Called once. */
  gone(connection: Connection): void;
}

/** One connection to an upstream, which carries requests one after the other. */
export class Connection {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #reader: ResponseReader;
  #try: PlainTry | undefined;
  #isReady = false;
  #isGone = false;
  #isPaused = false;
  #error: Error | undefined;
  /** When it is closed unless it is used before; monotonic milliseconds. */
  until = 0;

  /** `socket` is being opened for `first`. */
  constructor(socket: Socket, isTls: boolean, owner: ConnectionOwner, headBytes: number, first: PlainTry) {
    this.#socket = socket;
    this.#owner = owner;
    this.#reader = new ResponseReader(headBytes);
    this.#try = first;
    first.assign(this);
    socket.once(isTls ? "secureConnect" : "connect", () => this.#ready());
    socket.on("data", (data) => this.#read(data));
    socket.on("end", () => this.#end());
    socket.on("error", (error) => (this.#error = error));
    socket.on("close", () => this.#close());
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** See `ResponseHead`. */
  get keptFor(): number {
    return this.#reader.keptFor;
  }

  carry(next: PlainTry): void {
    this.#try = next;
    next.assign(this);
    this.#send(next);
  }

  /** The try of this connection needs no response. The upstream must not go on working for it. */
  abandon(): void {
    this.#try = undefined;
    this.#reader.stop();
    this.destroy();
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  destroy(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#socket.destroy();
    this.#owner.gone(this);
  }

  /** Closes it. The request that it carries, if there is one, fails. */
  fail(error: Error): void {
    const failed = this.#try;
    this.#try = undefined;
    this.#reader.stop();
    this.destroy();
    failed?.fail(error);
  }

  #ready(): void {
    if (this.#isGone) return;
    this.#isReady = true;
    if (this.#try) this.#send(this.#try);
  }

  #send(sent: PlainTry): void {
    this.#reader.begin(sent, sent.isHead);
    this.#socket.write(sent.send(), "latin1");
  }

  #read(data: Buffer): void {
    if (this.#isGone) return;
    try {
      this.#reader.read(data);
    } catch (error) {
      this.fail(toError(error));
      return;
    }
    this.#settle();
  }

  /** After something was read: the response may be complete. */
  #settle(): void {
    if (this.#isGone || (this.#try && !this.#try.isOver)) return;
    this.#try = undefined;
    if (!this.#reader.isReusable) {
      this.destroy();
      return;
    }
    // The client was slower than the last parts of the response.
    this.resume();
    this.#owner.rests(this);
  }

  #end(): void {
    if (this.#isGone) return;
    if (this.#reader.close() && this.#isReady) this.destroy();
    else this.fail(new Error("the upstream closed the connection"));
  }

  #close(): void {
    if (!this.#isGone) this.fail(this.#error ?? new Error("the connection closed"));
  }
}
