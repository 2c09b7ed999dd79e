import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** RFC 6455, section 1.3. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const CONTINUATION = 0;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** The server's end of a WebSocket: whole messages in, binary messages out. */
export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #onMessage: (message: Buffer) => void;
  #unread = Buffer.alloc(0);
  #fragments: Buffer[] = [];

  private constructor(socket: Duplex, onMessage: (message: Buffer) => void) {
    this.#socket = socket;
    this.#onMessage = onMessage;
  }

  /** Accepts an upgrade with one of the client's protocols. `head` is what came after the request's headers. */
  static accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    protocol: string,
    onMessage: (message: Buffer) => void,
  ): WebSocketConnection {
    const key = request.headers["sec-websocket-key"] ?? "";
    const accept = createHash("sha1")
      .update(key + GUID)
      .digest("base64");
    const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
    const own = [`Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${protocol}`];
    socket.write(`${[...lines, ...own].join("\r\n")}\r\n\r\n`);
    const connection = new WebSocketConnection(socket, onMessage);
    socket.on("data", (chunk: Buffer) => connection.#read(chunk));
    socket.on("error", () => socket.destroy());
    if (head.length > 0) connection.#read(head);
    return connection;
  }

  /** `done` is called when the client can receive more. */
  send(message: Buffer, done?: () => void): void {
    this.#write(BINARY, message, done);
  }

  /** Ends the connection after what was sent. */
  close(): void {
    this.#write(CLOSE, Buffer.from([1000 >> 8, 1000 & 255]));
    this.#socket.end();
  }

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    for (let frame = readFrame(this.#unread); frame !== undefined; frame = readFrame(this.#unread)) {
      this.#unread = this.#unread.subarray(frame.size);
      this.#take(frame);
    }
  }

  #take({ opcode, last, payload }: Frame): void {
    if (opcode === CLOSE) this.close();
    else if (opcode === PING) this.#write(PONG, payload);
    else if (opcode <= BINARY) {
      if (opcode !== CONTINUATION) this.#fragments = [];
      this.#fragments.push(payload);
      if (last) this.#onMessage(Buffer.concat(this.#fragments.splice(0)));
    }
  }

  #write(opcode: number, payload: Buffer, done?: () => void): void {
    if (this.#socket.writableEnded) {
      done?.();
      return;
    }
    const { length } = payload;
    const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
    header[0] = 0x80 | opcode;
    header[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
    if (header.length === 4) header.writeUInt16BE(length, 2);
    if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2);
    this.#socket.write(Buffer.concat([header, payload]), () => done?.());
  }
}

interface Frame {
  readonly opcode: number;
  readonly last: boolean;
  readonly payload: Buffer;
  /** Bytes of the whole frame. */
  readonly size: number;
}

/** The first frame; undefined until it has arrived in whole. Clients mask what they send. */
function readFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const lengthSize = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskSize = (second & 0x80) === 0 ? 0 : 4;
  const start = 2 + lengthSize + maskSize;
  if (bytes.length < start) return undefined;
  const length = lengthSize === 0 ? short : lengthSize === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < start + length) return undefined;
  const payload = Buffer.from(bytes.subarray(start, start + length));
  const mask = bytes.subarray(2 + lengthSize, start);
  if (maskSize > 0) for (let at = 0; at < length; at++) payload[at] = (payload[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return { opcode: first & 0x0f, last: (first & 0x80) !== 0, payload, size: start + length };
}
