import { METHODS } from "node:http";
import type { Socket } from "node:net";
import type { Engine } from "./engine.ts";
import { Timed } from "./wheel.ts";

const PREFACE = "PRI * HTTP/2.0";
const TLS_HANDSHAKE = 0x16;
/** Begins a header of the PROXY protocol, version 2, in front of any protocol. */
const PROXY_V2 = "\r\n\r\n\0\r\nQUIT\n";

/** `opaque`: anything else, or what the owner wants forwarded as it is. */
export type Speaks = "http1" | "h2" | "tls" | "opaque";

/** Which connections are forwarded as they are, without a look at what they carry. */
export type OpaqueConnections = "none" | "unlessHttp" | "all";

export interface SnifferOptions {
  readonly opaque: OpaqueConnections;
  /** With `all`: connections that begin with this are HTTP/1.1 all the same. */
  readonly httpStart: string;
}

/** Milliseconds for which the first bytes of a connection are awaited that is opaque without any. */
const SILENCE = 250;
const STARTS = METHODS.map((method) => `${method} `);

const waiting = Symbol("waiting");

/**
 * Detects the protocol of a connection by its first bytes, which it returns to the socket. A silent connection is
 * closed after a timeout; if all are opaque, it is one after a moment, because its server may speak first. A connection
 * that its client closes before is not reported: it tested whether the port is open.
 */
export class Sniffer extends Timed {
  readonly #engine: Engine;
  readonly #socket: Socket;
  readonly #tell: (speaks: Speaks) => void;
  readonly #options: SnifferOptions;
  #bytes: Buffer | undefined;

  constructor(engine: Engine, socket: Socket, options: SnifferOptions, tell: (speaks: Speaks) => void) {
    super();
    this.#engine = engine;
    this.#socket = socket;
    this.#options = options;
    this.#tell = tell;
    (socket as { [waiting]?: boolean })[waiting] = true;
    engine.wheel.set(this, options.opaque === "all" ? SILENCE : engine.limits.headTime);
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
    if (this.#options.opaque === "all") this.#decided("opaque");
    else this.#socket.destroy();
  }

  readonly #data = (data: Buffer): void => {
    this.#bytes = this.#bytes ? Buffer.concat([this.#bytes, data]) : data;
    const speaks = spokenFor(this.#bytes, this.#options);
    if (speaks !== undefined) this.#decided(speaks);
  };

  #decided(speaks: Speaks): void {
    const socket = this.#socket;
    this.#forget();
    socket.off("close", this.#closed);
    socket.pause();
    if (this.#bytes) socket.unshift(this.#bytes);
    this.#tell(speaks);
    socket.off("error", this.#end);
  }

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

/** Undefined while it is not known yet. */
function spokenFor(bytes: Buffer, { opaque, httpStart }: SnifferOptions): Speaks | undefined {
  if (opaque === "all") return startsWith(bytes, [httpStart], "http1", "opaque");
  const speaks = spoken(bytes);
  if (opaque === "none" || speaks === "h2" || speaks === undefined) return speaks;
  if (speaks === "tls") return "opaque";
  // A server ignores empty lines before a request.
  if (bytes[0] === 0x0a) return "http1";
  if (bytes[0] === 0x0d) return startsWith(bytes, [PROXY_V2], "opaque", "http1");
  return startsWith(bytes, STARTS, "http1", "opaque");
}

/** `yes` if the bytes begin with one of `starts`, `no` if they cannot, undefined if they are too few. */
function startsWith(bytes: Buffer, starts: readonly string[], yes: Speaks, no: Speaks): Speaks | undefined {
  const longest = Math.max(...starts.map(({ length }) => length));
  const text = bytes.toString("latin1", 0, longest);
  if (starts.some((start) => start !== "" && text.startsWith(start))) return yes;
  return starts.some((start) => start.startsWith(text)) ? undefined : no;
}

/** Undefined while the protocol is not known yet. */
function spoken(bytes: Buffer): Exclude<Speaks, "opaque"> | undefined {
  if (bytes[0] === TLS_HANDSHAKE) return "tls";
  if (bytes[0] !== 0x50) return "http1";
  const length = Math.min(bytes.length, PREFACE.length);
  if (bytes.toString("latin1", 0, length) !== PREFACE.slice(0, length)) return "http1";
  return bytes.length < PREFACE.length ? undefined : "h2";
}
