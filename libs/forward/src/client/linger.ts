import type { IncomingMessage } from "node:http";
import type { Engine } from "../engine.ts";
import { Timed } from "../wheel.ts";

/** Milliseconds for which the rest of a body is read and dropped after its answer. */
const PATIENCE = 2_000;

/**
 * Reads the rest of a body that is not needed. To close a connection with unread bytes resets it, and the reset may overtake the
 * answer; so the client gets a while to end its body, after which its connection is closed.
 */
export class Linger extends Timed {
  readonly #request: IncomingMessage;

  constructor(engine: Engine, request: IncomingMessage) {
    super();
    this.#request = request;
    engine.wheel.set(this, PATIENCE);
    const stop = () => {
      engine.wheel.clear(this);
      request.off("end", stop);
      request.socket.off("close", stop);
    };
    request.once("end", stop);
    // Node forgets the request after its answer, so that its connection alone tells of the end.
    request.socket.once("close", stop);
    request.resume();
  }

  override expire(): void {
    if (!this.#request.complete) this.#request.socket.destroy();
  }
}
