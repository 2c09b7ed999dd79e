import type { Duplex } from "node:stream";
import type { Engine } from "../engine.ts";
import { resetSocket } from "./reset-socket.ts";

/**
 * Reads from a client until its tunnel is made, and keeps what it sends. Stops when that fills the buffer of the socket
 * (64 KiB, and up to another 64 KiB of the last read); more waits in the kernel. Until then a disconnect is detected,
 * which needs a reader: an end of the connection cannot be told from a close.
 */
export class EarlyData {
  readonly #engine: Engine;
  readonly #socket: Duplex;
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(engine: Engine, socket: Duplex, head: Buffer) {
    this.#engine = engine;
    this.#socket = socket;
    if (head.length > 0) socket.unshift(head);
    socket.on("error", ignore);
    if (socket.readableLength >= socket.readableHighWaterMark) {
      this.#count(socket.readableLength);
      return;
    }
    socket.on("data", this.#data);
    socket.on("end", this.#end);
    socket.resume();
  }

  /** Returns the data to the socket. From here on the tunnel owns it. */
  release(): void {
    this.#stop();
    this.#count(-this.#length);
  }

  readonly #data = (data: Buffer): void => {
    this.#parts.push(data);
    this.#count(data.length);
    // Node reads no more of a socket that has a full buffer after this event.
    if (this.#length >= this.#socket.readableHighWaterMark) this.#stop();
  };

  readonly #end = (): void => {
    this.#socket.destroy();
  };

  #stop(): void {
    this.#socket.off("data", this.#data);
    this.#socket.off("end", this.#end);
    this.#socket.pause();
    for (const part of this.#parts.reverse()) this.#socket.unshift(part);
    this.#parts.length = 0;
  }

  #count(bytes: number): void {
    const { early, group, limits } = this.#engine;
    this.#length += bytes;
    early.bytes += bytes;
    group.earlyBytes += bytes;
    const free = limits.earlyBytes - early.bytes;
    if (bytes > 0 && (free < 0 || group.earlyBytes > limits.share * free)) resetSocket(this.#socket);
  }
}

function ignore(): void {
  // The close event follows.
}
