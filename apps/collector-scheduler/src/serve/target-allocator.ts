import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import { createServer as createSecureServer, type Server as HttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Metrics } from "@evenkeel/metrics";
import { type Clock, explain, runtimeErrors, type Server } from "@evenkeel/runtime";
import type { metrics } from "../metrics.ts";
import type { Body } from "./body.ts";
import { type AllocatorRequest, readRequest } from "./request-path.ts";

/** What is sent, or why nothing can be told. A refusal is never an empty answer: collectors take that for "no jobs". */
export type AllocatorAnswer = { readonly body: Body } | { readonly status: 404 | 503; readonly sentence: string };

export interface TargetAllocatorOptions {
  readonly host: string | undefined;
  /** 0 asks the system for a free one. */
  readonly port: number;
  /** Serve over TLS alone, with the certificate that `secure` gets. Handshakes fail until then. */
  readonly tls: boolean;
  /** `isPoll`: by Prometheus's http_sd, and not by a person who looks. */
  readonly answer: (request: AllocatorRequest, isPoll: boolean) => AllocatorAnswer;
  readonly metrics: Metrics<typeof metrics>;
  readonly clock: Clock;
}

/** A header that Prometheus's http_sd sends, and with it every collector. */
const REFRESH_INTERVAL = "x-prometheus-refresh-interval-seconds";

type PathLabel = "scrape_configs" | "jobs" | "targets" | "other";

const TLS = { minVersion: "TLSv1.2", handshakeTimeout: 5000 } as const;
/** Milliseconds. */
const REQUEST_TIMEOUT = 10_000;
/** Milliseconds that an idle connection is kept: longer than collectors wait between two polls. */
const KEEP_ALIVE = 75_000;
/** Bytes. */
const MAX_HEADER_SIZE = 16_384;
/** Milliseconds between two looks for idle connections while it drains. */
const SWEEP_PERIOD = 50;
/** Requests that are kept as they were read, and their characters at most. */
const MOST_REQUESTS = 20_000;
const LONGEST_KEPT = 512;

/**
 * The HTTP API of the OpenTelemetry target allocator, from memory. It is a bare server, because collectors poll every
 * job every few seconds and each answer is bytes that exist already.
 */
export class TargetAllocator implements Server {
  readonly name = "targets";
  readonly #options: TargetAllocatorOptions;
  readonly #server: HttpServer | HttpsServer;
  /** What each target of a request asks for: collectors ask for the same ones over and over. */
  readonly #requests = new Map<string, AllocatorRequest>();
  #draining = false;

  constructor(options: TargetAllocatorOptions) {
    this.#options = options;
    const http = { requestTimeout: REQUEST_TIMEOUT, keepAliveTimeout: KEEP_ALIVE, maxHeaderSize: MAX_HEADER_SIZE };
    const take = (request: IncomingMessage, response: ServerResponse) => this.#take(request, response);
    this.#server = options.tls ? createSecureServer({ ...http, ...TLS }, take) : createServer(http, take);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? this.#options.port;
  }

  /** New connections get this certificate; those that are open keep theirs. Only for a server over TLS. */
  secure({ cert, key }: { readonly cert?: Buffer | undefined; readonly key?: Buffer | undefined }): void {
    (this.#server as HttpsServer).setSecureContext({
      minVersion: TLS.minVersion,
      ...(cert && { cert }),
      ...(key && { key }),
    });
  }

  async start(): Promise<void> {
    const { host, port } = this.#options;
    const listening = Promise.withResolvers<undefined>();
    this.#server.once("error", listening.reject);
    this.#server.listen({ port, ...(host !== undefined && { host }) }, () => listening.resolve(undefined));
    try {
      await listening.promise;
    } catch (cause) {
      const fields = { server: this.name, address: `${host ?? "*"}:${port}`, flag: "--target-port" };
      if ((cause as NodeJS.ErrnoException).code === "EADDRINUSE") throw new runtimeErrors.PortInUse(fields);
      throw new runtimeErrors.CannotListen(fields, { cause });
    }
  }

  async drain(deadline: AbortSignal): Promise<number> {
    this.#draining = true;
    if (!this.#server.listening) return 0;
    let cut = 0;
    const cutAll = () => {
      this.#server.getConnections((_error, connections) => (cut = connections));
      this.#server.closeAllConnections();
    };
    deadline.addEventListener("abort", cutAll, { once: true });
    if (deadline.aborted) cutAll();
    const closed = Promise.withResolvers<undefined>();
    this.#server.close(() => closed.resolve(undefined));
    const endSweeps = this.#sweepIdle();
    await closed.promise;
    endSweeps();
    deadline.removeEventListener("abort", cutAll);
    return cut;
  }

  /** Closes connections whose last answer is sent, again and again: nothing is to be done for it with each request. */
  #sweepIdle(): () => void {
    let cancel: () => void = () => undefined;
    const sweep = () => {
      this.#server.closeIdleConnections();
      cancel = this.#options.clock.schedule(SWEEP_PERIOD, sweep);
    };
    sweep();
    return () => cancel();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.drain(deadline);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { metrics, clock } = this.#options;
    const startedAt = clock.monotonic();
    if (this.#draining) response.setHeader("connection", "close");
    const path = this.#trySend(request, response);
    metrics.requestSeconds.observe({ path }, (clock.monotonic() - startedAt) / 1000);
  }

  /** An answer that cannot be made, such as one above the longest text that V8 holds, ends no process. */
  #trySend(request: IncomingMessage, response: ServerResponse): PathLabel {
    try {
      return this.#send(request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else refuse(response, 503, `the answer cannot be made: ${explain(error)}`);
      return "other";
    }
  }

  #read(url: string): AllocatorRequest | undefined {
    const known = this.#requests.get(url);
    if (known !== undefined) return known;
    const request = readRequest(url);
    if (request === undefined) return undefined;
    if (this.#requests.size >= MOST_REQUESTS) this.#requests.clear();
    if (url.length <= LONGEST_KEPT) this.#requests.set(url, request);
    return request;
  }

  /** Returns what was asked for. */
  #send({ method, url = "", rawHeaders }: IncomingMessage, response: ServerResponse): PathLabel {
    if (method !== "GET" && method !== "HEAD") {
      refuse(response, 405, "only GET is served here");
      return "other";
    }
    const request = this.#read(url);
    if (request === undefined) {
      refuse(response, 404, "this path is not served: ask for /scrape_configs, /jobs or /jobs/{job}/targets");
      return "other";
    }
    const isPoll = method === "GET" && hasHeader(rawHeaders, REFRESH_INTERVAL);
    const answer = this.#options.answer(request, isPoll);
    if ("body" in answer) {
      const { body } = answer;
      response.writeHead(200, ["content-type", "application/json", "content-length", String(body.length)]);
      if (typeof body === "string") response.end(body, "latin1");
      else response.end(body);
    } else {
      refuse(response, answer.status, answer.sentence);
    }
    return request.asks.for;
  }
}

/** Headers as they came cost nothing; Node makes an object of them for each request that asks for one. */
function hasHeader(rawHeaders: readonly string[], wanted: string): boolean {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === wanted.length && name.toLowerCase() === wanted) return true;
  }
  return false;
}

/** A sentence and not JSON: a collector that reads it as its jobs finds no map, and keeps what it has. */
function refuse(response: ServerResponse, status: number, sentence: string): void {
  const body = Buffer.from(`${sentence}\n`);
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "content-length": body.length });
  response.end(body);
}
