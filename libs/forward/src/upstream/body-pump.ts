import type { Writable } from "node:stream";
import { freeWhenSent } from "./free-when-sent.ts";
import type { Asker } from "./try.ts";

/** Sends a request's body to the upstream at its speed: at most one stream buffer is read ahead. */
export class BodyPump {
  readonly #asker: Asker;
  readonly #sink: Writable;
  readonly #done: (trailers: readonly string[]) => void;
  #state: "waiting" | "running" | "over" = "waiting";

  constructor(asker: Asker, sink: Writable, done: (trailers: readonly string[]) => void) {
    this.#asker = asker;
    this.#sink = sink;
    this.#done = done;
  }

  /** Whether the whole body was sent. */
  get over(): boolean {
    return this.#state === "over";
  }

  start(): void {
    if (this.#state !== "waiting") return;
    this.#state = "running";
    const { body } = this.#asker;
    this.#sink.on("drain", this.#drain);
    body.on("data", this.#data);
    body.on("end", this.#finish);
    body.resume();
  }

  /** Stops sending the body. */
  stop(): void {
    if (this.#state !== "running") {
      this.#state = "over";
      return;
    }
    this.#detach();
  }

  #detach(): void {
    this.#state = "over";
    const { body } = this.#asker;
    this.#sink.off("drain", this.#drain);
    body.off("data", this.#data);
    body.off("end", this.#finish);
  }

  readonly #data = (data: Buffer): void => {
    this.#asker.bodyTaken();
    if (!this.#sink.write(data, freeWhenSent(data))) this.#asker.body.pause();
  };

  readonly #drain = (): void => {
    this.#asker.body.resume();
  };

  readonly #finish = (): void => {
    // The close event follows and ends the exchange.
    if (!this.#asker.bodyWhole()) return;
    this.#detach();
    this.#done(this.#asker.bodyTrailers());
  };
}
