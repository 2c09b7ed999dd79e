import type { Deadlines } from "./limits.ts";
import type { Exchange } from "./exchange.ts";

/** Where requests are sent. Reusing the same object saves a lookup. */
export interface Origin {
  readonly host: string;
  readonly port: number;
  /** `h2c` is HTTP/2 without TLS by prior knowledge. Upgrades use HTTP/1.1 on the same port in both cases. */
  readonly protocol: "http1" | "h2c";
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

export type Destination = Forward | Refuse;

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
   * the same origin is tried again, up to `limits.tries`.
   */
  retry?(exchange: Exchange, failure: Failure): Destination | Promise<Destination> | undefined;
}
