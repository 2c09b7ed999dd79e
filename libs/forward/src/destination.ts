import type { Deadlines } from "./limits.ts";
import type { Exchange } from "./exchange.ts";

/** Where requests are sent. Reusing the same object saves a lookup. */
export interface Origin {
  readonly host: string;
  readonly port: number;
  /** `h2c` is HTTP/2 without TLS by prior knowledge. Upgrades use HTTP/1.1 on the same port in both cases. */
  readonly protocol: "http1" | "h2c";
  /** With it, connections use TLS. Only for `http1`. */
  readonly tls?: OriginTls | undefined;
}

/**
 * TLS material of an origin. The server is always verified. Renewed material needs another `id` in another `Origin`
 * object: new requests then use new connections, and those of the old `id` close when they are idle.
 */
export interface OriginTls {
  /** Names the material. Connections are shared by requests with the same `id` only. */
  readonly id: string;
  /** The authorities in PEM; those of Node by default. */
  readonly ca?: string | Buffer | undefined;
  /** The client certificate and its key in PEM. */
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** The name in the server's certificate, and in SNI unless it is an address; the host by default. */
  readonly servername?: string | undefined;
}

/** How an exchange ended. */
export interface Outcome {
  /** The status that the client got; 0 if it had disconnected before. */
  readonly status: number;
  /**
   * `answered`: the whole response was sent. `refused`: this process responded itself. `left`: the client disconnected.
   * `broken`: the upstream closed the connection inside its response.
   */
  readonly end: "answered" | "refused" | "left" | "broken";
}

/** The request is forwarded. */
export interface Forward {
  readonly origin: Origin;
  /** Overrides single deadlines of the forwarder. */
  readonly deadlines?: Partial<Deadlines>;
  /** Alternating names (in lower case) and values. Each replaces the client's header of that name. */
  readonly headers?: readonly string[];
  /** The Host or `:authority` to send; the client's by default. */
  readonly host?: string;
  /** The path and query to send; the client's by default. */
  readonly path?: string;
  /** Alternating names (in lower case) and values that are added to the response. */
  readonly answerHeaders?: readonly string[];
  /** Called once, when the upstream began to respond, or accepted the upgrade. Must not throw. */
  readonly answering?: () => void;
  /** Called once, when the exchange has ended and its slot is free. */
  readonly settled?: (outcome: Outcome) => void;
}

/** The owner of the router responds itself. Drain, metrics and `counts` include it as any exchange. */
export interface Answer {
  /**
   * Resolves after `response.end`. A coded error before the head becomes a refusal: 413 or 408 for errors of `body`,
   * 503 if it is retryable, else 500. After the head, an error ends the client's connection or stream.
   */
  readonly answer: (request: AnswerRequest, response: AnswerResponse) => Promise<void>;
  /**
   * Overrides single deadlines of the forwarder: `response` is the time to the head, `connect` and `expect` do not
   * apply.
   */
  readonly deadlines?: Partial<Deadlines>;
  /** Called once, when the exchange has ended. */
  readonly settled?: (outcome: Outcome) => void;
}

export interface AnswerRequest {
  readonly exchange: Exchange;
  /** Aborts when the client disconnects or a deadline passes. */
  readonly signal: AbortSignal;
  /**
   * The whole body, read once: a further call has the same result. Sends `100 Continue` if the client waits for it.
   * Rejects if the body is longer than `limit` bytes (`EK_FORWARD_BODY_TOO_LONG`) or `signal` aborts.
   */
  body(limit: number): Promise<Buffer>;
}

/** `head` is called once, then `write` any number of times, then `end`. */
export interface AnswerResponse {
  /** Headers alternate names and values. */
  head(status: number, headers: readonly string[]): void;
  /** Resolves when the client can receive more; rejects if `signal` aborts. */
  write(part: Buffer | string): Promise<void>;
  /** Trailers alternate names and values. */
  end(trailers?: readonly string[]): void;
}

/** This process responds to the request. */
export interface Refuse {
  readonly refuse: Refusal;
}

export interface Refusal {
  readonly status: number;
  /** A code that users can look up. It is part of the response. */
  readonly code?: string;
  /** Alternating names and values. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

export type Destination = Forward | Answer | Refuse;

/** Why a try got no response. */
export interface Failure {
  /**
   * `connect`: no connection, so nothing was sent. `reset`: the connection broke. `deadline`: too slow. `protocol`: not
   * valid HTTP.
   */
  readonly kind: "connect" | "reset" | "deadline" | "protocol";
  readonly origin: Origin;
  /** The destination of this try. */
  readonly forward: Forward;
  /** Number of tries, including this one. */
  readonly tries: number;
  /**
   * Whether the same request may be sent again: no part of its body was sent, and either nothing was sent or its method
   * is idempotent.
   */
  readonly repeatable: boolean;
  readonly error: Error;
}

/** Decides where requests are sent. */
export interface Router {
  /**
   * A promise holds the request: its body stays unread and no `100 Continue` is sent. If the client disconnects, the
   * promise is ignored. A rejection with a retryable coded error becomes 503, any other 500.
   */
  route(exchange: Exchange): Destination | Promise<Destination>;
  /**
   * The next destination after a repeatable failure; undefined ends the exchange with the failure. Without this method
   * the same origin is retried, up to `limits.tries`.
   */
  retry?(exchange: Exchange, failure: Failure): Destination | Promise<Destination> | undefined;
}
