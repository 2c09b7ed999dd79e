import { EventReader } from "../api/event-reader.ts";
import { faultText, Refused } from "../api/refused.ts";
import { backOff } from "./back-off.ts";

export type StreamState =
  | { readonly phase: "connecting" }
  | { readonly phase: "live" }
  /** Cut; retried at `retryAt` (milliseconds since the epoch). */
  | { readonly phase: "waiting"; readonly since: number; readonly retryAt: number; readonly fault: string }
  /** The page is hidden: it resumes when the page is shown again. */
  | { readonly phase: "resting" }
  /** The service has no such stream. */
  | { readonly phase: "absent" };

export interface LiveStreamOptions {
  readonly address: string;
  /** Of each request. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly message: (data: unknown) => void;
  /** Called when a connection is open, before its first message: the stream starts again. */
  readonly opened: () => void;
  readonly state: (state: StreamState) => void;
  /**
   * Milliseconds of silence after which the connection counts as dead; default: 40 s, because servers send a comment
   * every 15 s.
   */
  readonly silence?: number;
}

/**
 * A stream of server-sent events that reconnects by itself: after it is cut, ended or silent, it is opened again with
 * back-off.
 */
export class LiveStream {
  readonly #options: LiveStreamOptions;
  #attempt = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #since: number | undefined;
  #closed = false;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
    this.#connect();
  }

  /** Tries at once if it is cut, also in place of a try that takes long. */
  retryNow(): void {
    if (this.#since === undefined || this.#closed) return;
    this.#connect();
  }

  /** Lets go of the connection until `resume`: a browser has few for one host, and hidden pages would hold them all. */
  rest(): void {
    this.#cancel();
    this.#since = undefined;
    this.#options.state({ phase: "resting" });
  }

  resume(): void {
    if (!this.#closed) this.#connect();
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#attempt.abort();
  }

  #connect(): void {
    this.#cancel();
    const attempt = new AbortController();
    this.#attempt = attempt;
    // While it is cut, it is shown as cut until it is open again.
    if (this.#since === undefined) this.#options.state({ phase: "connecting" });
    this.#read(attempt).then(
      () => this.#failed(attempt, "the service ended the connection"),
      (error: unknown) => this.#failed(attempt, error),
    );
  }

  async #read(attempt: AbortController): Promise<void> {
    const { address, message, opened, state, silence: longest = 40_000 } = this.#options;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => attempt.abort(new Error("the service fell silent")), longest);
    };
    heard();
    try {
      const headers = { accept: "text/event-stream", ...this.#options.headers?.() };
      const response = await fetch(address, { signal: attempt.signal, headers });
      if (!response.ok || !response.body) throw await Refused.of(response);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const events = new EventReader();
      this.#failures = 0;
      this.#since = undefined;
      opened();
      state({ phase: "live" });
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        heard();
        for (const item of events.read(value)) {
          if (item.kind === "alive") continue;
          if (item.name === "message") message(JSON.parse(item.data));
          else if (item.name === "error") throw refusal(item.data);
          else if (item.name === "end") throw new Error("the service is stopping");
        }
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #failed(attempt: AbortController, error: unknown): void {
    if (this.#closed || attempt !== this.#attempt) return;
    if (error instanceof Refused && (error.status === 404 || error.status === 501)) {
      this.#options.state({ phase: "absent" });
      return;
    }
    // Frees the connection where the stream was ended from this side.
    attempt.abort();
    const now = Date.now();
    const delay = backOff(this.#failures, Math.random);
    this.#failures += 1;
    this.#since ??= now;
    this.#timer = setTimeout(() => this.#connect(), delay);
    const fault = typeof error === "string" ? error : faultText(error);
    this.#options.state({ phase: "waiting", since: this.#since, retryAt: now + delay, fault });
  }
}

function refusal(data: string): Refused {
  const { code = "", message = "the stream failed" } = JSON.parse(data) as { code?: string; message?: string };
  return new Refused(500, code, message);
}
