import type { IncomingMessage } from "node:http";
import type { Engine } from "../engine.ts";
import { Timed } from "../wheel.ts";

/** Milliseconds for which the rest of a body is read and dropped after its response. */
const LONGEST_LINGER = 2_000;

/**
 * Reads the rest of a body that is not needed. Closing a connection with unread bytes resets it, and the reset may
 * arrive before the response. So the client gets some time to end its body before its connection is closed.
 */
export class Linger extends Timed {
  readonly #request: IncomingMessage;

  constructor(engine: Engine, request: IncomingMessage) {
    super();
    this.#request = request;
    engine.wheel.set(this, LONGEST_LINGER);
    const stop = () => {
      engine.wheel.clear(this);
      request.off("end", stop);
      request.socket.off("close", stop);
    };
    request.once("end", stop);
    // After the response, Node emits no events on the request, so the close event of the connection is used.
    request.socket.once("close", stop);
    request.resume();
  }

  override expire(): void {
    if (!this.#request.complete) this.#request.socket.destroy();
  }
}
