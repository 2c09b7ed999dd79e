import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Http1Exchange } from "./http1-exchange.ts";

/** The most requests of one connection that may wait for their turn. */
const MOST = 64;

interface Line {
  readonly waiting: Http1Exchange[];
}

const lineOf = Symbol("line");
type Lined = Duplex & { [lineOf]?: Line | undefined; _httpMessage?: { readonly headersSent: boolean } | null };

/**
 * Pipelined requests: each begins when the answer before it is complete, so that they reach the upstream in the order in which they
 * were sent, and one after the other.
 */
export function waitForTurn(request: IncomingMessage, exchange: Http1Exchange): void {
  const socket: Lined = request.socket;
  const line = (socket[lineOf] ??= newLine(socket));
  if (line.waiting.push(exchange) > MOST) socket.destroy();
}

/** A request without a body does not say that its client left, and an answer without a socket does not either. */
function newLine(socket: Duplex): Line {
  const line: Line = { waiting: [] };
  socket.once("close", () => {
    for (const exchange of line.waiting.splice(0)) exchange.over(false);
  });
  return line;
}

/** The answer on `socket` is complete: the next begins, unless it was the last that the connection carries. */
export function nextTurn(socket: Duplex): void {
  const next = (socket as Lined)[lineOf]?.waiting.shift();
  if (next && socket.writable) next.begin();
}

/**
 * Whether an answer is still to come on `socket`. A request behind it cannot have the socket for a tunnel, and is answered in HTTP/1.1,
 * as is a server's right (RFC 9110, section 7.8).
 */
export function isTaken(socket: Duplex): boolean {
  return ((socket as Lined)._httpMessage ?? null) !== null;
}

/** Whether a part of an answer has been written, so that another cannot follow. */
export function isAnswering(socket: Duplex): boolean {
  return (socket as Lined)._httpMessage?.headersSent === true;
}
