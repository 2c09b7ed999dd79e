import { toError } from "@evenkeel/runtime";
import type { PlannedWrite } from "../batch.ts";
import { answerHeaderList } from "../headers/response-headers.ts";
import type { Connection } from "./connection.ts";
import type { Connections } from "./connections.ts";
import { freeWhenSent } from "./free-when-sent.ts";
import { requestText } from "./request-text.ts";
import { MalformedResponse, type ResponseHead } from "./response-head.ts";
import type { ResponseSink } from "./response-reader.ts";
import type { Ask, Asker, Try } from "./try.ts";

/**
 * Sends a request without a body on one of the pool's connections. Requests with a body or an upgrade use `HttpTry`.
 */
export class PlainTry implements Try, PlannedWrite, ResponseSink {
  readonly #connections: Connections;
  readonly #ask: Ask;
  readonly #asker: Asker;
  #connection: Connection | undefined = undefined;
  #text = "";
  #isSent = false;
  #isAnswered = false;
  #isOver = false;

  constructor(connections: Connections, ask: Ask) {
    this.#connections = connections;
    this.#ask = ask;
    this.#asker = ask.asker;
  }

  get connected(): boolean {
    return this.#isSent;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isHead(): boolean {
    return this.#asker.method === "HEAD";
  }

  write(): void {
    if (this.#isOver) return;
    try {
      this.#text = requestText(this.#ask);
    } catch (error) {
      this.#isOver = true;
      this.#asker.unsendable(toError(error));
      return;
    }
    this.#connections.carry(this);
  }

  /** The connection on which the request will be sent; it may not be open yet. */
  assign(connection: Connection): void {
    this.#connection = connection;
  }

  /** The bytes of the request, in latin1, which are written now. */
  send(): string {
    this.#isSent = true;
    return this.#text;
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#connection) this.#connection.abandon();
    else this.#connections.forget(this);
  }

  resume(): void {
    this.#connection?.resume();
  }

  sendBody(): void {
    // There is no body.
  }

  head({ status, text, headers }: ResponseHead): void {
    if (this.#isOver) return;
    if (status >= 200) {
      this.#isAnswered = true;
      this.#asker.answer(status, text, answerHeaderList(headers), false);
      // `100 Continue` is dropped: the request has no body.
    } else if (status !== 100) this.#asker.interim(status, answerHeaderList(headers));
  }

  part(data: Buffer): void {
    if (!this.#isOver && !this.#asker.chunk(data, freeWhenSent(data))) this.#connection?.pause();
  }

  end(trailers: readonly string[]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection = undefined;
    const list = trailers.length === 0 ? trailers : answerHeaderList(trailers);
    this.#asker.complete(list.length > 0 ? list : undefined);
  }

  /** The connection failed before the response was complete. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection = undefined;
    const isMalformed = error instanceof MalformedResponse && !this.#isAnswered;
    this.#asker.failed(!this.#isSent ? "connect" : isMalformed ? "protocol" : "reset", error, this.#isSent);
  }
}
