import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { now } from "./now.ts";

/** What a client asks for, as bytes, and what its answer must be. */
export interface Question {
  readonly bytes: Buffer;
  readonly expected: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  /** Whether the connection may be used again. */
  readonly kept: boolean;
}

/** Bytes of the bodies of every 40 requests of a mix, by what is left of their index; the others are GET. */
const BODIES: Readonly<Record<number, number>> = Object.fromEntries(
  Array.from({ length: 20 }, (_empty, half) => [2 * half + 1, half === 19 ? 100_000 : half % 4 === 0 ? 16_000 : 1000]),
);

/** GET alone, or half of them POST with bodies of 1, 16 and 100 KB, every fifth of these chunked. */
export function question(id: string, index: number, mixed: boolean): Question {
  const size = mixed ? BODIES[index % 40] : undefined;
  const head = `/${id} HTTP/1.1\r\nHost: bench\r\nUser-Agent: bench\r\nAccept: */*\r\nX-Bench-Id: ${id}\r\n`;
  if (size === undefined) return { bytes: Buffer.from(`GET ${head}\r\n`), expected: `${id} ` };
  const body = Buffer.alloc(size, id);
  const expected = `${id} ${createHash("sha256").update(body).digest("hex")}`;
  const parts =
    index % 5 === 0
      ? [`POST ${head}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`, body, "\r\n0\r\n\r\n"]
      : [`POST ${head}Content-Length: ${size}\r\n\r\n`, body];
  return { bytes: Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part))), expected };
}

/**
 * A request on a connection, and the little of HTTP that its answer needs: node:http would cost the client more than
 * what is measured costs the holder.
 */
export class RawRequest {
  readonly #done: (answer: RawAnswer | undefined) => void;
  #text = "";
  sent = 0;
  /** When the first byte of the answer came; 0 before. */
  first = 0;

  constructor(done: (answer: RawAnswer | undefined) => void) {
    this.#done = done;
  }

  send(socket: Socket, bytes: Buffer): void {
    const end = (answer: RawAnswer | undefined) => {
      socket.off("data", take);
      socket.off("close", gone);
      this.#done(answer);
    };
    const gone = () => end(undefined);
    const take = (data: Buffer) => {
      if (this.first === 0) this.first = now();
      this.#text += data.toString("latin1");
      const found = parsed(this.#text);
      if (found) end(found);
    };
    socket.on("data", take);
    socket.on("close", gone);
    this.sent = now();
    socket.write(bytes);
  }
}

/** Undefined until the answer is complete. One without Content-Length is not understood, and never is. */
function parsed(text: string): RawAnswer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = text.slice(0, end).toLowerCase();
  const status = Number(head.slice(9, 12));
  if (status < 200) return parsed(text.slice(end + 4));
  const [, length] = /\r\ncontent-length: *(\d+)/.exec(head) ?? [];
  const body = text.slice(end + 4);
  if (length === undefined || body.length < Number(length)) return undefined;
  return { status, head, body, kept: !head.includes("\r\nconnection: close") };
}
