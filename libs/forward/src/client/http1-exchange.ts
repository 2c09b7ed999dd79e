import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex, Readable } from "node:stream";
import type { PlannedWrite } from "../batch.ts";
import type { Engine, Flushable } from "../engine.ts";
import type { ClientCertificate, ClientProtocol } from "../exchange.ts";
import { certificateOn } from "./client-certificate.ts";
import { ClientExchange } from "./client-exchange.ts";
import { joinSockets } from "./join-sockets.ts";
import type { RequestShape } from "./request-shape.ts";
import { Linger } from "./linger.ts";
import { mayHaveBody } from "./may-have-body.ts";
import { plainAddress } from "./plain-address.ts";
import { isTaken, beginNext } from "./pipelining.ts";
import { resetSocket } from "./reset-socket.ts";
import type { UpgradeStart } from "./upgrade-start.ts";

/** Maximum bytes of a whole body that is written together with its head. */
const ONE_WRITE = 16 * 1024;

/** Headers that proxies add. */
const BY_PROXY = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];

const connectedAt = Symbol("connectedAt");
type Connected = Duplex & { [connectedAt]?: number };

/** Notes when a client opened its connection, in monotonic milliseconds: see `Exchange.connectionAge`. */
export function noteConnected(socket: Duplex, now: number): void {
  (socket as Connected)[connectedAt] = now;
}

const exchangeOf = Symbol("exchange");
type Marked = ServerResponse & { [exchangeOf]?: Http1Exchange };

/** An exchange with a client that speaks HTTP/1.1 or 1.0. */
export class Http1Exchange extends ClientExchange implements Flushable, PlannedWrite {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly headers: readonly string[];
  readonly protocol: ClientProtocol;
  readonly scheme: "http" | "https";
  readonly remoteAddress: string;
  readonly client: ClientCertificate | undefined;
  readonly upgrade: string | undefined;
  readonly hasBody: boolean;
  readonly expectsContinue: boolean;
  readonly bodyLength: number;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #start: UpgradeStart | undefined;
  /** Remaining bytes of the response body; -1 if unknown. */
  #rest = -1;
  /** Whether the head is prepared and not sent yet. */
  #headWaits = false;
  /** The whole body of the response. It is written with its head at the end of the event loop iteration. */
  #whole: Buffer | undefined = undefined;
  #listensToDrain = false;
  #unreadAfter = false;

  constructor(
    engine: Engine,
    request: IncomingMessage,
    response: ServerResponse,
    shape: RequestShape,
    expectsContinue: boolean,
    start?: UpgradeStart,
  ) {
    super(engine);
    this.#request = request;
    this.#response = response;
    this.#start = start;
    this.method = request.method ?? "GET";
    this.path = shape.path;
    this.host = shape.host;
    this.headers = request.rawHeaders;
    this.protocol = request.httpVersionMinor === 0 ? "http/1.0" : "http/1.1";
    this.scheme = "encrypted" in request.socket ? "https" : "http";
    this.remoteAddress = plainAddress(request.socket.remoteAddress);
    this.client = certificateOn(request.socket);
    this.upgrade = start?.token;
    this.hasBody = shape.hasBody;
    this.bodyLength = shape.bodyLength;
    this.expectsContinue = expectsContinue && shape.hasBody;
    (response as Marked)[exchangeOf] = this;
    response.on("close", onClose);
    if (engine.draining) response.shouldKeepAlive = false;
  }

  get body(): Readable {
    return this.#request;
  }

  bodyWhole(): boolean {
    return this.#request.complete;
  }

  protected override receivedTrailers(): readonly string[] {
    return this.#request.rawTrailers;
  }

  get connectionAge(): number {
    const since = (this.#request.socket as Connected)[connectedAt] ?? -Infinity;
    return this.engine.clock.monotonic() - since;
  }

  closeAfter(): void {
    this.#response.shouldKeepAlive = false;
  }

  unreadAfter(): void {
    this.#unreadAfter = true;
  }

  interim(status: number, headers: string[]): void {
    const { socket } = this.#response;
    // HTTP/1.0 has no interim responses, and a waiting pipelined request has no socket yet.
    if (this.protocol === "http/1.0" || !socket || this.#response.headersSent) return;
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Interim"}\r\n`;
    for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
    socket.write(`${text}\r\n`, "latin1");
  }

  /**
   * `100 Continue` is the only interim response that every client accepts, requested or not (RFC 9110, section 15.2.1):
   * Python's client treats any other as the final one (https://github.com/python/cpython/issues/42550). Until the
   * buffer of a body is full, its socket is read and reports a disconnect itself. Proxies are excluded: nginx treats
   * even 100 as the response.
   */
  protected override probe(): boolean {
    const { complete, readableLength, readableHighWaterMark } = this.#request;
    if (this.protocol === "http/1.0" || complete) return false;
    if (BY_PROXY.some((name) => this.header(name) !== undefined)) return false;
    const unread = readableLength >= readableHighWaterMark;
    if (unread && this.#response.socket?.writableLength === 0) this.interim(100, []);
    return true;
  }

  protected override writeHead(status: number, text: string, headers: string[]): void {
    const response = this.#response;
    try {
      if (text === "") response.writeHead(status, headers);
      else response.writeHead(status, text, headers);
    } catch {
      // HTTP/1.1 cannot carry a header of an HTTP/2 upstream.
      this.cut();
      return;
    }
    this.#headWaits = true;
    this.#rest = -1;
    for (let index = 0; index < headers.length; index += 2) {
      if (headers[index] === "content-length") this.#rest = Number(headers[index + 1]);
    }
    this.engine.flush.add(this);
  }

  flushHead(): void {
    if (!this.#headWaits || !this.#response.headersSent || this.#response.writableEnded) return;
    if (this.#response.destroyed) return;
    this.#headWaits = false;
    this.#response.flushHeaders();
  }

  protected override writeChunk(data: Buffer, sent?: (error?: Error | null) => void): boolean {
    const response = this.#response;
    if (this.#rest >= 0) {
      this.#rest -= data.length;
      if (this.#rest === 0) {
        if (this.#headWaits && data.length <= ONE_WRITE) {
          this.#headWaits = false;
          this.#whole = data;
          this.engine.batch.toClient(this);
        } else response.end(data);
        return true;
      }
    }
    this.#headWaits = false;
    if (response.write(data, sent)) return true;
    if (!this.#listensToDrain) {
      this.#listensToDrain = true;
      response.on("drain", onDrain);
    }
    return false;
  }

  write(): void {
    const whole = this.#whole as Buffer;
    this.#whole = undefined;
    // Head and body as one string are one write instead of a list of buffers.
    if (!this.#response.destroyed) this.#response.end(whole.toString("latin1"), "latin1");
  }

  protected override writeEnd(trailers: readonly string[] | undefined): void {
    const response = this.#response;
    if (trailers !== undefined && trailers.length > 0) {
      const pairs: [string, string][] = [];
      for (let index = 0; index < trailers.length; index += 2) {
        pairs.push([trailers[index] as string, trailers[index + 1] as string]);
      }
      try {
        response.addTrailers(pairs);
      } catch {
        this.cut();
        return;
      }
    }
    if (!this.#whole && !response.writableEnded) response.end();
    this.#dropBody();
  }

  protected override writeWhole(status: number, headers: string[], body: string): void {
    if (mayHaveBody(status)) headers.push("content-length", String(Buffer.byteLength(body)));
    if (body !== "" && !headers.includes("content-type")) headers.push("content-type", "text/plain; charset=utf-8");
    if (this.expectsContinue && !this.continueSent) this.closeAfter();
    this.#response.writeHead(status, headers);
    this.#response.end(body);
    this.#dropBody();
  }

  /** Drops the rest of the request's body. If the client was not told to send it, its connection is closed. */
  #dropBody(): void {
    if (!this.hasBody || this.#request.complete || (this.expectsContinue && !this.continueSent)) return;
    new Linger(this.engine, this.#request);
  }

  protected override cut(): void {
    const { socket } = this.#request;
    // For an HTTP/1.0 client, the end of the connection is the end of the body.
    if (this.protocol === "http/1.0") resetSocket(socket);
    else socket.destroy();
    // A waiting pipelined response has no socket, so no close event follows.
    if (!this.#response.socket) this.over(false);
  }

  protected override tunnel(
    status: number,
    text: string,
    headers: readonly string[],
    upstream: Duplex,
    head: Buffer,
  ): void {
    const start = this.#start as UpgradeStart;
    const { socket } = this.#request;
    this.#response.off("close", onClose);
    this.#response.detachSocket(socket);
    let reply = `HTTP/1.1 ${status} ${text}\r\n`;
    for (let index = 0; index < headers.length; index += 2) reply += `${headers[index]}: ${headers[index + 1]}\r\n`;
    socket.write(`${reply}\r\n`, "latin1");
    this.engine.tally.opened("tunnel");
    start.release();
    if (head.length > 0) upstream.unshift(head);
    joinSockets(socket, upstream, () => {
      this.engine.tally.closed("tunnel");
      this.over(true);
    });
  }

  /** The client's side has ended. */
  over(whole: boolean): void {
    const { socket, complete } = this.#request;
    // Not if something follows: a pipelined request, or the rest of a body.
    const isKept = whole && complete && this.#response.shouldKeepAlive;
    if (this.#unreadAfter && isKept && !isTaken(socket)) this.engine.unread.add(socket);
    this.ended(whole);
    this.#start?.release();
    beginNext(socket);
  }
}

function onClose(this: ServerResponse): void {
  (this as Marked)[exchangeOf]?.over(this.writableFinished);
}

function onDrain(this: ServerResponse): void {
  (this as Marked)[exchangeOf]?.drained();
}
