import type { Duplex } from "node:stream";

/** Maximum bytes that are read from a client before the upstream takes them. More wait in the kernel. */
const MOST_EARLY = 64 * 1024;

/**
 * Reads from a client until its tunnel is made. Early data is kept for the tunnel, and a disconnect is detected, which
 * needs a reader: an end of the connection cannot be told from a close.
 */
export class EarlyData {
  readonly #socket: Duplex;
  readonly #parts: Buffer[];
  readonly #most: number;
  #length: number;
  #released = false;

  constructor(socket: Duplex, head: Buffer, most = MOST_EARLY) {
    this.#socket = socket;
    this.#parts = [head];
    this.#most = most;
    this.#length = head.length;
    socket.on("data", this.#data);
    socket.on("end", this.#end);
    socket.on("error", ignore);
  }

  /** Returns the data so far. From here on the tunnel owns the socket. */
  release(): Buffer {
    if (this.#released) return Buffer.alloc(0);
    this.#released = true;
    this.#socket.off("data", this.#data);
    this.#socket.off("end", this.#end);
    this.#socket.pause();
    return Buffer.concat(this.#parts);
  }

  readonly #data = (data: Buffer): void => {
    this.#parts.push(data);
    this.#length += data.length;
    if (this.#length > this.#most) this.#socket.pause();
  };

  readonly #end = (): void => {
    this.#socket.destroy();
  };
}

function ignore(): void {
  // The close event follows.
}
