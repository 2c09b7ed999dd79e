import type { Dispatcher, Pool } from "undici";
import type { PlannedWrite } from "../batch.ts";
import { answerHeaders } from "../headers/response-headers.ts";
import type { Ask, Asker, Try } from "./try.ts";

/** undici's types lack `servername`. */
interface DispatchOptions extends Dispatcher.DispatchOptions {
  servername?: string;
}

/**
 * Sends requests without a body with undici, which is faster. undici does not support `Expect` and trailers, and sends
 * no head before the first byte of a body, so requests with a body use `HttpTry`.
 */
export class UndiciTry implements Try, PlannedWrite, Dispatcher.DispatchHandler {
  readonly #pool: Pool;
  readonly #ask: Ask;
  readonly #asker: Asker;
  readonly #name: string | undefined;
  #controller: Dispatcher.DispatchController | undefined = undefined;
  #aborted = false;
  #answered = false;

  /** `name` groups requests on the TLS connections of `pool`. */
  constructor(pool: Pool, ask: Ask, name: string | undefined) {
    this.#pool = pool;
    this.#ask = ask;
    this.#asker = ask.asker;
    this.#name = name;
  }

  write(): void {
    if (this.#aborted) return;
    const { path, host, headers } = this.#ask;
    const { method } = this.#asker;
    headers.push("host", host);
    // By default undici closes the connection after a HEAD.
    const options: DispatchOptions =
      method === "HEAD" ? { path, method, headers, reset: false } : { path, method, headers };
    if (this.#name !== undefined) options.servername = this.#name;
    this.#pool.dispatch(options, this);
  }

  get connected(): boolean {
    return this.#controller !== undefined;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new Error("the exchange has ended"));
  }

  resume(): void {
    this.#controller?.resume();
  }

  sendBody(): void {
    // There is no body.
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Ends a request that waited in the pool's queue before it is sent. An abort would close the connection.
    if (this.#aborted) throw new Error("the exchange has ended");
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    text?: string,
  ): void {
    if (this.#aborted) return;
    if (status < 200) {
      this.#asker.interim(status, answerHeaders(headers));
      return;
    }
    this.#answered = true;
    this.#asker.answer(status, text ?? "", answerHeaders(headers), false);
  }

  onResponseData(controller: Dispatcher.DispatchController, data: Buffer): void {
    if (!this.#aborted && !this.#asker.chunk(data)) controller.pause();
  }

  onResponseEnd(
    _controller: Dispatcher.DispatchController,
    trailers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#aborted) return;
    const list = answerHeaders(trailers);
    this.#asker.complete(list.length > 0 ? list : undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#aborted) return;
    const { code = "" } = error as { code?: string };
    if (code === "UND_ERR_INVALID_ARG") {
      this.#asker.unsendable(error);
      return;
    }
    const kind =
      this.#controller === undefined
        ? "connect"
        : !this.#answered && (error.name === "HTTPParserError" || code === "UND_ERR_HEADERS_OVERFLOW")
          ? "protocol"
          : "reset";
    this.#asker.failed(kind, error, this.#controller !== undefined);
  }
}
