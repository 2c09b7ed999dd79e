import type { CodedError } from "@evenkeel/runtime";
import type { Answer, AnswerRequest, AnswerResponse } from "../destination.ts";
import { BodyTooLong, ExchangeEnded } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { answerHeaderList } from "../headers/response-headers.ts";
import type { Asker, Try } from "../upstream/try.ts";
import { mayHaveBody } from "./may-have-body.ts";

/** The exchange, as an owner's answer sees it. */
export interface Answered extends Asker {
  /** The owner failed before it ended its response. */
  unanswered(error: unknown): void;
}

const done = Promise.resolve();

/** Bytes after which a write waits for other events, even if the client takes them as fast as they are written. */
const YIELD = 256 * 1024;

/** A response that the owner of the router writes itself. To the exchange it is a try without an upstream. */
export class OwnerAnswer implements Try, AnswerRequest, AnswerResponse {
  readonly connected = true;
  readonly #asker: Answered;
  #state: "waiting" | "answering" | "over" = "waiting";
  #ended: CodedError | undefined;
  #controller: AbortController | undefined;
  #body: Promise<Buffer> | undefined;
  /** Resolves when the client can receive more. */
  #room: PromiseWithResolvers<void> | undefined;
  /** Bytes that the declared length still allows; Infinity if none is declared. */
  #rest = Infinity;
  #bodiless = false;
  #sinceYield = 0;

  constructor(asker: Answered) {
    this.#asker = asker;
  }

  get exchange(): Exchange {
    return this.#asker;
  }

  get signal(): AbortSignal {
    const controller = (this.#controller ??= new AbortController());
    if (this.#ended && !controller.signal.aborted) controller.abort(this.#ended);
    return controller.signal;
  }

  start({ answer }: Answer): void {
    // An error that is thrown synchronously is handled like a rejection.
    const running = (async () => answer(this, this))();
    running.then(
      () => this.#fail(new Error("the owner returned before it ended its response")),
      (error: unknown) => this.#fail(error),
    );
  }

  body(limit: number): Promise<Buffer> {
    if (!this.#body) {
      this.#body = this.#read(limit);
      // The owner may be waiting for something else when the client disconnects.
      this.#body.catch(ignore);
    }
    return this.#body;
  }

  head(status: number, headers: readonly string[]): void {
    if (this.#ended) throw this.#ended;
    if (this.#state !== "waiting") throw new Error("a response has one head");
    this.#state = "answering";
    const list = answerHeaderList(headers);
    this.#bodiless = this.#asker.method === "HEAD" || !mayHaveBody(status);
    const length = list.indexOf("content-length");
    if (length >= 0 && length % 2 === 0) this.#rest = Number(list[length + 1]);
    this.#asker.answer(status, "", list, false);
  }

  write(part: Buffer | string): Promise<void> {
    if (this.#ended) return rejected(this.#ended);
    if (this.#state !== "answering") return rejected(new Error("a part is written after the head and before the end"));
    const data = typeof part === "string" ? Buffer.from(part) : part;
    if (this.#bodiless || data.length === 0) return done;
    if (data.length > this.#rest) return rejected(new Error("the body is longer than its content-length"));
    this.#rest -= data.length;
    this.#sinceYield += data.length;
    if (this.#asker.chunk(data)) {
      if (this.#sinceYield < YIELD) return done;
      this.#sinceYield = 0;
      return new Promise((resolve) => void setImmediate(resolve));
    }
    this.#sinceYield = 0;
    if (!this.#room) {
      this.#room = Promise.withResolvers();
      this.#room.promise.catch(ignore);
    }
    return this.#room.promise;
  }

  end(trailers?: readonly string[]): void {
    if (this.#ended) return;
    if (this.#state !== "answering") throw new Error("a response ends once, after its head");
    if (!this.#bodiless && this.#rest > 0 && this.#rest < Infinity) {
      throw new Error("the body is shorter than its content-length");
    }
    this.#state = "over";
    this.#room?.resolve();
    this.#asker.complete(trailers);
  }

  abort(): void {
    this.#state = "over";
    this.#ended = new ExchangeEnded({});
    this.#controller?.abort(this.#ended);
    this.#room?.reject(this.#ended);
  }

  resume(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  sendBody(): void {
    // Only `body` reads it.
  }

  #fail(error: unknown): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#asker.unanswered(error);
  }

  #read(limit: number): Promise<Buffer> {
    const asker = this.#asker;
    if (this.#ended) return Promise.reject(this.#ended);
    if (!asker.hasBody) return Promise.resolve(Buffer.alloc(0));
    if (asker.bodyLength > limit) return Promise.reject(new BodyTooLong({ limit }));
    const { body } = asker;
    const { signal } = this;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const parts: Buffer[] = [];
    let length = 0;
    const data = (part: Buffer) => {
      asker.bodyTaken();
      length += part.length;
      parts.push(part);
      if (length <= limit) return;
      stop();
      reject(new BodyTooLong({ limit }));
    };
    const end = () => {
      // A stream that is reset ends too. The close event follows and ends the exchange.
      if (!asker.bodyWhole()) return;
      stop();
      resolve(Buffer.concat(parts, length));
    };
    const aborted = () => {
      stop();
      reject(signal.reason as Error);
    };
    const stop = () => {
      body.off("data", data);
      body.off("end", end);
      body.pause();
      signal.removeEventListener("abort", aborted);
    };
    signal.addEventListener("abort", aborted);
    asker.bodyTaken();
    asker.continued();
    body.on("data", data);
    body.on("end", end);
    body.resume();
    return promise;
  }
}

function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(ignore);
  return promise;
}

function ignore(): void {
  // The owner sees it where it waits.
}
