import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Duplex, Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { Engine } from "../engine.ts";
import type { ClientCertificate, ClientProtocol } from "../exchange.ts";
import { headerObject } from "../headers/header-object.ts";
import { endWithTrailers, resetStream } from "../reset-stream.ts";
import { certificateOn } from "./client-certificate.ts";
import { ClientExchange } from "./client-exchange.ts";
import { grpcRefusal } from "./grpc-refusal.ts";
import { mayHaveBody } from "./may-have-body.ts";
import { plainAddress } from "./plain-address.ts";

/** An exchange on a stream of HTTP/2. */
export class Http2Exchange extends ClientExchange {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly headers: readonly string[];
  readonly protocol: ClientProtocol;
  readonly scheme: "http" | "https";
  readonly remoteAddress: string;
  readonly client: ClientCertificate | undefined;
  readonly upgrade = undefined;
  readonly hasBody: boolean;
  readonly expectsContinue: boolean;
  readonly bodyLength: number;
  readonly #stream: ServerHttp2Stream;
  #bodyTrailers: readonly string[] = [];
  #trailers: readonly string[] = [];
  #whole = false;

  constructor(
    engine: Engine,
    stream: ServerHttp2Stream,
    head: IncomingHttpHeaders,
    flags: number,
    raw: readonly string[],
  ) {
    super(engine);
    const socket = stream.session?.socket as TLSSocket | undefined;
    const secure = socket?.encrypted === true;
    this.#stream = stream;
    this.method = head[":method"] ?? "";
    this.path = head[":path"] ?? "";
    this.host = head[":authority"] ?? head.host ?? "";
    this.headers = withoutPseudo(raw);
    this.protocol = secure ? "h2" : "h2c";
    this.scheme = secure ? "https" : "http";
    this.remoteAddress = plainAddress(socket?.remoteAddress);
    this.client = certificateOn(socket);
    this.hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
    this.bodyLength = head["content-length"] === undefined ? -1 : Number(head["content-length"]);
    this.expectsContinue = this.hasBody && head.expect?.toLowerCase() === "100-continue";
    stream.on("error", ignore);
    stream.on("close", () => this.ended(this.#whole && stream.rstCode === constants.NGHTTP2_NO_ERROR));
    // A client may reset a stream without an error. Node then keeps the stream until its body is read and everything is
    // written.
    stream.on("aborted", () => stream.destroy());
    stream.on("end", () => stream.closed && stream.destroy());
    stream.on("drain", () => this.drained());
    stream.on("trailers", (_trailers, _flags, list) => (this.#bodyTrailers = list));
    stream.on("wantTrailers", () => endWithTrailers(stream, this.#trailers));
  }

  get body(): Readable {
    return this.#stream;
  }

  bodyWhole(): boolean {
    return !this.#stream.aborted && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR;
  }

  protected override receivedTrailers(): readonly string[] {
    return this.#bodyTrailers;
  }

  unreadAfter(): void {
    // The connection carries other streams.
  }

  get connectionAge(): number {
    return Infinity;
  }

  closeAfter(): void {
    const { session } = this.#stream;
    if (session && !session.closed && !session.destroyed) session.close();
  }

  interim(status: number, headers: string[]): void {
    const stream = this.#stream;
    if (stream.headersSent || stream.destroyed || stream.closed) return;
    try {
      stream.additionalHeaders({ ...headerObject(headers), ":status": status });
    } catch {
      // Interim responses are optional. One that HTTP/2 cannot carry is dropped.
    }
  }

  protected override probe(): boolean {
    // A reset of the stream, or the end of the connection, is always read.
    return false;
  }

  protected override writeHead(status: number, _text: string, headers: string[], complete: boolean): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    const answer: OutgoingHttpHeaders = headerObject(headers);
    answer[":status"] = status;
    if (complete) this.#whole = true;
    try {
      stream.respond(answer, { endStream: complete, waitForTrailers: !complete });
    } catch {
      // HTTP/2 cannot carry the header, such as several values of a header that allows one.
      this.cut(undefined);
    }
    if (complete) this.#stopBody();
  }

  protected override writeChunk(data: Buffer, sent?: (error?: Error | null) => void): boolean {
    const stream = this.#stream;
    return stream.destroyed || stream.closed || stream.writableEnded || stream.write(data, sent);
  }

  protected override writeEnd(trailers: readonly string[] | undefined): void {
    const stream = this.#stream;
    if (trailers) this.#trailers = trailers;
    this.#whole = true;
    if (!stream.writableEnded) stream.end();
    this.#stopBody();
  }

  protected override writeWhole(status: number, headers: string[], body: string): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    this.#whole = true;
    if (this.header("content-type")?.startsWith("application/grpc") === true) {
      stream.respond({ ...headerObject(headers), ...grpcRefusal(status, body) }, { endStream: true });
    } else {
      const answer: OutgoingHttpHeaders = headerObject(headers);
      answer[":status"] = status;
      if (mayHaveBody(status)) answer["content-length"] = Buffer.byteLength(body);
      if (body !== "") answer["content-type"] ??= "text/plain; charset=utf-8";
      stream.respond(answer);
      if (!stream.writableEnded) stream.end(body);
    }
    this.#stopBody();
  }

  /**
   * The response is complete. A client that is still sending is told to stop (RFC 9113, section 8.1). Data that has
   * arrived is dropped, because a stream does not close before its body is read.
   */
  #stopBody(): void {
    const stream = this.#stream;
    if (!this.hasBody || stream.readableEnded || stream.destroyed) return;
    stream.resume();
    const stop = () => {
      if (!stream.readableEnded && !stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    };
    if (stream.writableFinished) stop();
    else stream.once("finish", stop);
  }

  protected override cut(code: number | undefined): void {
    resetStream(this.#stream, code ?? constants.NGHTTP2_INTERNAL_ERROR);
  }

  protected override tunnel(_status: number, _text: string, _headers: readonly string[], socket: Duplex): void {
    // HTTP/2 has no upgrades.
    socket.destroy();
    this.cut(undefined);
  }
}

function withoutPseudo(raw: readonly string[]): string[] {
  const list: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    if (!(raw[index] as string).startsWith(":")) list.push(raw[index] as string, raw[index + 1] as string);
  }
  return list;
}

function ignore(): void {
  // The close event follows.
}
