import type { Socket } from "node:net";
import type { Engine } from "./engine.ts";
import { Timed } from "./wheel.ts";

const PREFACE = "PRI * HTTP/2.0";
const TLS_HANDSHAKE = 0x16;

export type Speaks = "http1" | "h2" | "tls";

const waiting = Symbol("waiting");

/**
 * Detects the protocol of a connection by its first bytes, which it returns to the socket. A silent connection is
 * closed after a timeout.
 */
export class Sniffer extends Timed {
  readonly #engine: Engine;
  readonly #socket: Socket;
  readonly #tell: (speaks: Speaks) => void;
  #bytes: Buffer | undefined;

  constructor(engine: Engine, socket: Socket, tell: (speaks: Speaks) => void) {
    super();
    this.#engine = engine;
    this.#socket = socket;
    this.#tell = tell;
    (socket as { [waiting]?: boolean })[waiting] = true;
    engine.wheel.set(this, engine.limits.headTime);
    socket.on("data", this.#data);
    socket.on("end", this.#end);
    socket.on("error", this.#end);
    socket.on("close", this.#closed);
  }

  /** Whether a connection has sent no data yet. */
  static waits(socket: Socket): boolean {
    return (socket as { [waiting]?: boolean })[waiting] === true;
  }

  override expire(): void {
    this.#socket.destroy();
  }

  readonly #data = (data: Buffer): void => {
    const bytes = this.#bytes ? Buffer.concat([this.#bytes, data]) : data;
    const speaks = spoken(bytes);
    if (speaks === undefined) {
      this.#bytes = bytes;
      return;
    }
    const socket = this.#socket;
    this.#forget();
    socket.off("close", this.#closed);
    socket.pause();
    socket.unshift(bytes);
    this.#tell(speaks);
    socket.off("error", this.#end);
  };

  readonly #end = (): void => {
    this.#socket.destroy();
  };

  readonly #closed = (): void => {
    this.#forget();
  };

  #forget(): void {
    this.#engine.wheel.clear(this);
    (this.#socket as { [waiting]?: boolean })[waiting] = false;
    this.#socket.off("data", this.#data);
    this.#socket.off("end", this.#end);
  }
}

/** Undefined while the protocol is not known yet. */
function spoken(bytes: Buffer): Speaks | undefined {
  if (bytes[0] === TLS_HANDSHAKE) return "tls";
  if (bytes[0] !== 0x50) return "http1";
  const length = Math.min(bytes.length, PREFACE.length);
  if (bytes.toString("latin1", 0, length) !== PREFACE.slice(0, length)) return "http1";
  return bytes.length < PREFACE.length ? undefined : "h2";
}
