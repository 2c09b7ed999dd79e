import type { Writable } from "node:stream";
import type { Asker } from "./try.ts";

/**
 * Minimum bytes of a part whose memory is freed as soon as it is sent. The garbage collector does not count the memory
 * of buffers, so a large upload would leave tens of megabytes behind.
 */
const LARGE = 16_384;

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
    const goesOn =
      data.length < LARGE
        ? this.#sink.write(data)
        : this.#sink.write(data, (error) => {
            if (!error) free(data);
          });
    if (!goesOn) this.#asker.body.pause();
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

/** Frees the memory of a buffer that is no longer read, unless it is part of a larger one. */
function free({ buffer, byteLength }: Buffer): void {
  if (buffer.byteLength === byteLength) (buffer as ArrayBuffer).transfer(0);
}
