import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { headerObject } from "../headers/header-object.ts";
import { answerHeaderList, trailerList } from "../headers/response-headers.ts";
import { endWithTrailers, resetStream } from "../reset-stream.ts";
import { BodyPump } from "./body-pump.ts";
import { freeWhenSent } from "./free-when-sent.ts";
import type { H2cSessions, Session, SessionTaker } from "./h2c-sessions.ts";
import type { Ask, Asker, Try } from "./try.ts";

type AnswerHead = IncomingHttpHeaders & { readonly ":status"?: number | undefined };

/** HTTP/2 without TLS: a stream of a shared session, with trailers in both directions. gRPC uses it. */
export class H2cTry implements Try, SessionTaker {
  readonly #asker: Asker;
  #ask: Ask | undefined;
  #session: Session | undefined;
  #stream: ClientHttp2Stream | undefined;
  #pump: BodyPump | undefined;
  #aborted = false;
  #answered = false;
  /** Whether the upstream ended its response itself. */
  #whole = false;
  #trailers: readonly string[] | undefined;
  #bodyTrailers: readonly string[] = [];

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  get connected(): boolean {
    return this.#session !== undefined;
  }

  start(sessions: H2cSessions, ask: Ask): void {
    this.#ask = ask;
    sessions.take(this);
  }

  unready(error: Error): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#asker.failed("connect", error, false);
  }

  ready(session: Session): void {
    if (this.#aborted) return;
    this.#session = session;
    const { asker, path, host, headers } = this.#ask as Ask;
    const wanted: OutgoingHttpHeaders = headerObject(headers);
    wanted[":method"] = asker.method;
    wanted[":path"] = path;
    wanted[":authority"] = host;
    wanted[":scheme"] = asker.scheme;
    if (asker.hasBody && asker.bodyLength >= 0) wanted["content-length"] = String(asker.bodyLength);
    if (asker.expectsContinue) wanted["expect"] = "100-continue";
    let stream: ClientHttp2Stream;
    try {
      stream = session.http2.request(wanted, { endStream: !asker.hasBody, waitForTrailers: asker.hasBody });
    } catch (error) {
      this.#aborted = true;
      asker.unsendable(error as Error);
      return;
    }
    this.#stream = stream;
    session.enter();
    this.#watchEnd(stream);
    stream.on("close", () => this.#close(stream));
    stream.on("error", () => undefined);
    stream.on("continue", () => {
      asker.continued();
      this.sendBody();
    });
    stream.on("headers", (head, _flags, raw) => {
      const status = head[":status"] ?? 0;
      if (!this.#aborted && status !== 100) asker.interim(status, answerHeaderList(raw));
    });
    stream.on("response", (head, flags, raw) => this.#answer(stream, head, flags, raw));
    stream.on("trailers", (_head, _flags, raw: string[]) => {
      this.#trailers = raw;
    });
    if (!asker.hasBody) return;
    stream.on("wantTrailers", () => endWithTrailers(stream, this.#bodyTrailers));
    this.#pump = new BodyPump(asker, stream, (trailers) => {
      this.#bodyTrailers = trailerList(trailers);
      stream.end();
    });
    if (!asker.expectsContinue) this.sendBody();
  }

  abort(): void {
    this.#aborted = true;
    this.#pump?.stop();
    if (this.#stream) resetStream(this.#stream, constants.NGHTTP2_CANCEL);
  }

  resume(): void {
    this.#stream?.resume();
  }

  sendBody(): void {
    if (!this.#aborted) this.#pump?.start();
  }

  /**
   * A reset without an error, which Node's servers send when a stream is destroyed, has the same events as the end of
   * the response. But Node marks the stream as closed before it ends it for a reset, and after for the end of a
   * response.
   */
  #watchEnd(stream: ClientHttp2Stream): void {
    const push = stream.push.bind(stream);
    stream.push = (data, ...rest) => {
      if (data === null && !stream.closed) this.#whole = true;
      return push(data, ...rest);
    };
  }

  #answer(stream: ClientHttp2Stream, head: AnswerHead, flags: number, raw: string[]): void {
    const asker = this.#asker;
    if (this.#aborted) return;
    this.#answered = true;
    const complete = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.on("data", (data: Buffer) => {
      if (!this.#aborted && !asker.chunk(data, freeWhenSent(data))) stream.pause();
    });
    stream.on("end", () => this.#complete(stream));
    asker.answer(head[":status"] ?? 502, "", answerHeaderList(raw), complete);
  }

  #complete(stream: ClientHttp2Stream): void {
    // A reset also ends the readable side, before it closes the stream.
    if (this.#aborted || !this.#whole) return;
    this.#aborted = true;
    const unsent = this.#pump?.over === false;
    this.#pump?.stop();
    if (unsent) resetStream(stream, constants.NGHTTP2_CANCEL);
    this.#asker.complete(this.#trailers);
  }

  #close(stream: ClientHttp2Stream): void {
    const session = this.#session as Session;
    session.leave();
    if (this.#aborted) return;
    this.#aborted = true;
    this.#pump?.stop();
    const code = stream.rstCode;
    const error = session.error ?? new Error(`the stream was reset with code ${code}`);
    if (code === constants.NGHTTP2_REFUSED_STREAM) this.#asker.failed("reset", error, this.#answered, code);
    else this.#asker.failed(isProtocolError(error) ? "protocol" : "reset", error, true, code);
  }
}

function isProtocolError(error: Error): boolean {
  const { code } = error as { code?: string };
  return code === "ERR_HTTP2_ERROR";
}
