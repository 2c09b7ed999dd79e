import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";

/** Bytes of a refusal that are kept. */
const REFUSAL_LIMIT = 1024 * 1024;

/** The result of an upgrade request. */
export type UpgradeAnswer =
  | { readonly status: 101; readonly socket: Duplex }
  | { readonly status: number; readonly body: string; readonly retryAfter: string | undefined };

/** Handles the response to an upgrade. Unlike undici's own `upgrade` it reads the reason of a refusal. */
export class UpgradeHandler implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #onSending: (() => void) | undefined;
  readonly #resolve: (answer: UpgradeAnswer) => void;
  readonly #reject: (error: Error) => void;
  #abort: (() => void) | undefined;
  #status = 0;
  #retryAfter: string | undefined;
  #body = "";

  constructor(
    signal: AbortSignal,
    onSending: (() => void) | undefined,
    resolve: (answer: UpgradeAnswer) => void,
    reject: (error: Error) => void,
  ) {
    this.#signal = signal;
    this.#onSending = onSending;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#onSending?.();
    this.#abort = () => controller.abort(this.#signal.reason as Error);
    if (this.#signal.aborted) this.#abort();
    else this.#signal.addEventListener("abort", this.#abort, { once: true });
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    _status: number,
    _headers: object,
    socket: Duplex,
  ): void {
    this.#settle();
    const cut = (): void => void socket.destroy(this.#signal.reason as Error);
    this.#signal.addEventListener("abort", cut, { once: true });
    socket.once("close", () => this.#signal.removeEventListener("abort", cut));
    this.#resolve({ status: 101, socket });
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    const { "retry-after": retryAfter } = headers;
    this.#retryAfter = typeof retryAfter === "string" ? retryAfter : undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body += chunk.toString("utf8");
    if (this.#body.length > REFUSAL_LIMIT) controller.abort(new Error("the refusal is too long"));
  }

  onResponseEnd(): void {
    this.#settle();
    this.#resolve({ status: this.#status, body: this.#body, retryAfter: this.#retryAfter });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    if (this.#abort !== undefined) this.#signal.removeEventListener("abort", this.#abort);
  }
}
