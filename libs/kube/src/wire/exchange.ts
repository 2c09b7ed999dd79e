import { Readable } from "node:stream";
import type { Duplex } from "node:stream";
import type { Metrics } from "@evenkeel/metrics";
import { aborted, type Clock, runtimeErrors, sleep, type TokenBucket, withDeadline } from "@evenkeel/runtime";
import type { Dispatcher } from "undici";
import { connectionFault } from "./connection-fault.ts";
import { type Access, type Credentials, expiredCredential } from "./credentials.ts";
import * as errors from "../errors.ts";
import type { kubeMetrics } from "./kube-metrics.ts";
import { readWhole } from "./read-whole.ts";
import { Refusal } from "./refusal.ts";
import { callName, type KubeRequest, type KubeStream, requestTarget } from "./request.ts";
import { waitBeforeRetry } from "./retry-policy.ts";
import { oneLine, refusal } from "./status.ts";
import type { Transport } from "./transport.ts";

/** The largest response that is read, in bytes: 50,000 pods in one list. */
const RESPONSE_LIMIT = 256 * 1024 * 1024;

/** Bytes of a refusal that are read. */
const REFUSAL_LIMIT = 1024 * 1024;

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
  readonly credentials: Credentials;
  readonly transport: Transport;
  readonly metrics: Metrics<typeof kubeMetrics>;
  /** Default milliseconds that a call may take. */
  readonly deadline: number;
  readonly limit: TokenBucket | undefined;
}

/** A response, and the name of its call for error messages. */
export interface CallAnswer {
  readonly json: unknown;
  readonly call: string;
}

/** Sends requests: credentials, rate limit, retries, deadlines, metrics. */
export class Exchange {
  readonly #options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** Sends a request, with retries, and reads the whole response. */
  async call(request: KubeRequest): Promise<CallAnswer> {
    const { clock, random } = this.#options;
    const milliseconds = request.deadline ?? this.#options.deadline;
    const ends = clock.monotonic() + milliseconds;
    let last: unknown;
    try {
      return await withDeadline({ clock, milliseconds, signal: request.signal, what: request.path }, async (signal) => {
        for (let attempt = 0; ; attempt++) {
          try {
            return await this.#let(request, signal, (access) => this.#callOnce(request, access, signal));
          } catch (error) {
            last = error;
            const wait = waitBeforeRetry(request, error, attempt, random);
            if (signal.aborted || wait === undefined || clock.monotonic() + wait >= ends) throw error;
            this.#options.metrics.retries.inc({ verb: request.verb ?? "other", code: codeOf(error) });
            await sleep(clock, wait, signal);
          }
        }
      });
    } catch (error) {
      if (!(error instanceof runtimeErrors.DeadlineExceeded)) throw error;
      const call = callName(request, this.#options.credentials.server);
      throw new errors.Timeout({ call, milliseconds }, { cause: last });
    }
  }

  /** Sends a request once; resolves with the response, its body unread. */
  async stream(request: KubeRequest): Promise<KubeStream> {
    return this.#open(request, async (access, cut, onSending) => {
      const answer = await this.#send({ lane: "streams", ...request }, access, cut, onSending);
      const call = callName(request, access.server.origin);
      const { statusCode: status, headers, body } = answer;
      return { opened: { status, headers, body, call }, stream: body };
    });
  }

  /** Sends an upgrade request once; resolves with the connection. */
  async upgrade(request: KubeRequest, protocol: string): Promise<Duplex> {
    return this.#open(request, async (access, cut, onSending) => {
      const wire = { ...this.#wire({ lane: "streams", ...request }, access, cut), onSending };
      const answer = await this.#options.transport.upgrade(access, wire, protocol);
      this.#options.metrics.requests.inc({ verb: request.verb ?? "other", code: String(answer.status) });
      if ("socket" in answer) return { opened: answer.socket, stream: answer.socket };
      throw refusal(callName(request, access.server.origin), answer);
    });
  }

  /**
   * Opens a stream or a connection. The deadline ends with the success of `open`; after that only the request's own
   * signal closes what was opened.
   */
  async #open<R>(
    request: KubeRequest,
    open: (
      access: Access,
      cut: AbortSignal,
      onSending: () => void,
    ) => Promise<{ opened: R; stream: Duplex | Readable }>,
  ): Promise<R> {
    const { clock, credentials } = this.#options;
    const { signal, deadline: milliseconds = this.#options.deadline } = request;
    signal?.throwIfAborted();
    const cutter = new AbortController();
    const cut = cutter.signal;
    const abort = (): void => cutter.abort(signal?.reason);
    const release = (): void => signal?.removeEventListener("abort", abort);
    signal?.addEventListener("abort", abort, { once: true });
    const timeout = () => new errors.Timeout({ call: callName(request, credentials.server), milliseconds });
    const cancel = clock.schedule(milliseconds, () => cutter.abort(timeout()));
    const opening = this.#let(request, cut, async (access) => {
      let sending = false;
      try {
        return await open(access, cut, () => (sending = true));
      } catch (thrown) {
        throw this.#failure(callName(request, access.server.origin), thrown, sending, cut);
      }
    });
    try {
      const { opened, stream } = await Promise.race([opening, aborted(cut)]);
      stream.once("close", release);
      return opened;
    } catch (error) {
      release();
      throw error;
    } finally {
      cancel();
    }
  }

  /**
   * Runs `attempt`, and once more with new credentials if the server refused the present ones and those on disk have
   * changed.
   */
  async #let<R>(request: KubeRequest, signal: AbortSignal, attempt: (access: Access) => Promise<R>): Promise<R> {
    const { clock, limit, metrics, credentials } = this.#options;
    if (limit !== undefined && request.lane !== "urgent") {
      const asked = clock.monotonic();
      await limit.take(signal);
      metrics.throttled.observe({ verb: request.verb ?? "other" }, (clock.monotonic() - asked) / 1000);
    }
    const access = await credentials.access();
    try {
      request.beforeSend?.();
      return await attempt(access);
    } catch (error) {
      if (!(error instanceof errors.Unauthorized || error instanceof errors.UntrustedServer)) throw error;
      const renewed = await credentials.renew(access);
      if (renewed === undefined || request.body instanceof Readable) throw this.#explained(request, access, error);
      request.beforeSend?.();
      return await attempt(renewed);
    }
  }

  async #callOnce(request: KubeRequest, access: Access, signal: AbortSignal): Promise<CallAnswer> {
    const call = callName(request, access.server.origin);
    let sending = false;
    let text: string;
    try {
      const answer = await this.#send(request, access, signal, () => (sending = true));
      text = (await readWhole(call, answer.body, RESPONSE_LIMIT)).toString("utf8");
    } catch (thrown) {
      throw this.#failure(call, thrown, sending, signal);
    }
    try {
      return { json: JSON.parse(text), call };
    } catch (cause) {
      throw new errors.BadResponse(
        { call, fault: `it is not JSON but starts with ${oneLine(text.slice(0, 60))}` },
        { cause },
      );
    }
  }

  /** Sends a request and measures it; rejects if the response is a refusal. */
  async #send(
    request: KubeRequest,
    access: Access,
    signal: AbortSignal,
    onSending: () => void,
  ): Promise<Dispatcher.ResponseData> {
    const { clock, metrics, transport } = this.#options;
    const verb = request.verb ?? "other";
    const started = clock.monotonic();
    let answer: Dispatcher.ResponseData;
    try {
      answer = await transport.send(access, { ...this.#wire(request, access, signal), onSending });
    } catch (error) {
      metrics.requests.inc({ verb, code: "error" });
      throw error;
    }
    metrics.requests.inc({ verb, code: String(answer.statusCode) });
    metrics.duration.observe({ verb }, (clock.monotonic() - started) / 1000);
    if (answer.statusCode >= 200 && answer.statusCode < 300) return answer;
    const call = callName(request, access.server.origin);
    const body = await readWhole(call, answer.body, REFUSAL_LIMIT);
    const { "retry-after": retryAfter } = answer.headers;
    throw refusal(call, {
      status: answer.statusCode,
      body: body.toString("utf8"),
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
    });
  }

  #wire(request: KubeRequest, access: Access, signal: AbortSignal) {
    const { lane = "calls", method = "GET", body, contentType = "application/json", headers } = request;
    const sent = body === undefined || body instanceof Readable ? body : JSON.stringify(body);
    return {
      ...{ lane, method, signal, path: requestTarget(request) },
      ...(sent === undefined ? {} : { body: sent }),
      headers: {
        accept: "application/json",
        "user-agent": this.#options.userAgent,
        ...(sent === undefined ? {} : { "content-type": contentType }),
        ...headers,
        ...access.headers,
      },
    };
  }

  /** Why an attempt failed: the reason of the caller's signal if it aborted, else a coded error. */
  #failure(call: string, thrown: unknown, sending: boolean, signal: AbortSignal): unknown {
    return signal.aborted ? signal.reason : connectionFault(call, thrown, sending);
  }

  /** A 401 with an expired credential becomes ExpiredCredential. */
  #explained(request: KubeRequest, access: Access, error: unknown): unknown {
    const expired = expiredCredential(access, this.#options.clock.now());
    if (!(error instanceof errors.Unauthorized) || expired === undefined) return error;
    return new errors.ExpiredCredential({ call: callName(request, access.server.origin), message: expired }, error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Refusal ? String(error.status) : "error";
}
