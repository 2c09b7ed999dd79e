import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** Bytes that a client may send before the upstream has agreed to the upgrade; more wait in the kernel. */
const MOST = 64 * 1024;

/**
 * Watches a client that asked for an upgrade while the upstream has not answered yet. What it sends early is kept for the tunnel;
 * and its end is noticed, which it would not be without a reader.
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

  /** What has come so far; the socket is the tunnel's from here on. */
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
  // The close that follows says all there is to know.
}

/**
 * What a request asks to be upgraded to. HTTP/2 and TLS by upgrade are not offered (RFC 9113 has dropped the first), and a request
 * with a body is answered in HTTP/1.1: both are a server's right.
 */
export function upgradeToken(request: IncomingMessage): string | undefined {
  const { upgrade, "content-length": length } = request.headers;
  if (upgrade === undefined || request.httpVersionMinor === 0) return undefined;
  if (request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0")) return undefined;
  return /^(h2c|tls\/)/i.test(upgrade) ? undefined : upgrade;
}
