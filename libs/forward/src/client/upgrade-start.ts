import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** Maximum bytes that are read from a client before the upstream has accepted the upgrade. More wait in the kernel. */
const MOST = 64 * 1024;

/**
 * Reads from a client that requested an upgrade until the upstream responds. Early data is kept for the tunnel, and a
 * disconnect is detected, which needs a reader.
 */
export class UpgradeStart {
  readonly token: string;
  readonly #socket: Duplex;
  readonly #parts: Buffer[];
  #length: number;
  #released = false;

  constructor(token: string, socket: Duplex, head: Buffer) {
    this.token = token;
    this.#socket = socket;
    this.#parts = [head];
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
    if (this.#length > MOST) this.#socket.pause();
  };

  readonly #end = (): void => {
    this.#socket.destroy();
  };
}

function ignore(): void {
  // The close event follows.
}

/**
 * The protocol that a request wants to upgrade to. Upgrades to HTTP/2 and TLS are not supported (RFC 9113 removed the
 * first), and a request with a body gets a response in HTTP/1.1. A server may do both.
 */
export function upgradeToken(request: IncomingMessage): string | undefined {
  const { upgrade, "content-length": length } = request.headers;
  if (upgrade === undefined || request.httpVersionMinor === 0) return undefined;
  if (request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0")) return undefined;
  return /^(h2c|tls\/)/i.test(upgrade) ? undefined : upgrade;
}
