import type { Deadlines } from "./limits.ts";
import type { Exchange } from "./exchange.ts";

/** Where requests go. The same object for the same place saves a lookup. */
export interface Origin {
  readonly host: string;
  readonly port: number;
  /** `h2c` is HTTP/2 without TLS by prior knowledge. Upgrades go by HTTP/1.1 to the same port either way. */
  readonly protocol: "http1" | "h2c";
}

/** How an exchange ended. */
export interface Outcome {
  /** The status that the client got; 0 if it was gone before there was one. */
  readonly status: number;
  /** `answered`: the whole answer was sent. `refused`: this process answered itself. `left`: the client disconnected. `broken`: the upstream broke off inside its answer. */
  readonly end: "answered" | "refused" | "left" | "broken";
}

/** The request is forwarded. */
export interface Forward {
  readonly origin: Origin;
  /** Replaces the forwarder's own, one by one. */
  readonly deadlines?: Partial<Deadlines>;
  /** Alternating names (in lower case) and values; each replaces what the client sent under that name. */
  readonly headers?: readonly string[];
  /** The Host or `:authority` to send; the client's by default. */
  readonly host?: string;
  /** The path and query to send; the client's by default. */
  readonly path?: string;
  /** Alternating names (in lower case) and values that the answer carries besides the upstream's. */
  readonly answerHeaders?: readonly string[];
  /** Called once, when the upstream has begun to answer, or has changed the protocol as the client asked. Must not throw. */
  readonly answering?: () => void;
  /** Called once, when nothing of the exchange is left: a slot that was taken for it is free. */
  readonly settled?: (outcome: Outcome) => void;
}

/** The request is answered here. */
export interface Refuse {
  readonly refuse: Refusal;
}

export interface Refusal {
  readonly status: number;
  /** A code that users can look up; goes into the answer. */
  readonly code?: string;
  /** Alternating names and values. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

export type Destination = Forward | Refuse;

/** Why a try got no answer. */
export interface Failure {
  /** `connect`: no connection, so nothing was sent. `reset`: the connection broke. `deadline`: too slow. `protocol`: no HTTP. */
  readonly kind: "connect" | "reset" | "deadline" | "protocol";
  readonly origin: Origin;
  /** What the router said for this try. */
  readonly forward: Forward;
  /** Tries so far, this one among them. */
  readonly tries: number;
  /** Whether the same request may be sent again: nothing of its body was sent, and nothing at all or its method is idempotent. */
  readonly repeatable: boolean;
  readonly error: Error;
}

/** Says where requests go. */
export interface Router {
  /**
   * A promise holds the request: its body stays unread and no `100 Continue` is sent; once its client has left, the promise is no
   * longer waited for. What it rejects with becomes 503 if it is a retryable coded error, else 500.
   */
  route(exchange: Exchange): Destination | Promise<Destination>;
  /**
   * Where to try next after a repeatable failure; nothing ends the exchange with the failure. Without this method the same origin
   * is tried again, up to `limits.tries`.
   */
  retry?(exchange: Exchange, failure: Failure): Destination | Promise<Destination> | undefined;
}
