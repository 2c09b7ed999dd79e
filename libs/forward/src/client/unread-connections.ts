import type { Socket } from "node:net";
import { Timed, type Wheel } from "../wheel.ts";

/** Milliseconds for which a connection stays unread at most. */
const LONGEST = 100;

/**
 * Connections that have their answers, and are not read as long as others of a burst still wait for theirs. Most of their clients close
 * them now, which takes as long as an answer does. What a client sends meanwhile waits in the kernel.
 */
export class UnreadConnections extends Timed {
  readonly #wheel: Wheel;
  #sockets: Socket[] = [];

  constructor(wheel: Wheel) {
    super();
    this.#wheel = wheel;
  }

  add(socket: Socket): void {
    socket.pause();
    if (this.#sockets.push(socket) === 1) this.#wheel.set(this, LONGEST);
  }

  /** All are read again. */
  read(): void {
    this.#wheel.clear(this);
    const sockets = this.#sockets;
    this.#sockets = [];
    for (const socket of sockets) socket.resume();
  }

  override expire(): void {
    this.read();
  }
}
