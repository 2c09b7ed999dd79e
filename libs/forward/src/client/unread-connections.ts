import type { Socket } from "node:net";
import { Timed, type Wheel } from "../wheel.ts";

/** Maximum milliseconds for which a connection stays unread. */
const LONGEST = 100;

/**
 * Connections that have their responses and are not read while others of a burst still wait. Most clients close their
 * connection now, and handling a close costs as much as a response. Data that a client sends meanwhile waits in the
 * kernel.
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

  /** Reads all connections again. */
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
