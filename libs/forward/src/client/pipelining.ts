import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Http1Exchange } from "./http1-exchange.ts";

/** Maximum number of pipelined requests that wait on one connection. */
const MOST = 64;

interface PipelineQueue {
  readonly waiting: Http1Exchange[];
}

const queueOf = Symbol("queue");
type PipelinedSocket = Duplex & {
  [queueOf]?: PipelineQueue | undefined;
  _httpMessage?: { readonly headersSent: boolean } | null;
};

/**
 * Pipelined requests: each begins when the previous response is complete, so that they reach the upstream in order and
 * one after the other.
 */
export function waitInPipeline(request: IncomingMessage, exchange: Http1Exchange): void {
  const socket: PipelinedSocket = request.socket;
  const queue = (socket[queueOf] ??= newQueue(socket));
  if (queue.waiting.push(exchange) > MOST) socket.destroy();
}

/** Neither a request without a body nor a response without a socket reports that the client disconnected. */
function newQueue(socket: Duplex): PipelineQueue {
  const queue: PipelineQueue = { waiting: [] };
  socket.once("close", () => {
    for (const exchange of queue.waiting.splice(0)) exchange.over(false);
  });
  return queue;
}

/** The response on `socket` is complete: the next request begins, unless the connection ends after this one. */
export function beginNext(socket: Duplex): void {
  const next = (socket as PipelinedSocket)[queueOf]?.waiting.shift();
  if (next && socket.writable) next.begin();
}

/**
 * Whether a response is outstanding on `socket`. A request behind it cannot use the socket for a tunnel, and gets a
 * response in HTTP/1.1, which a server may do (RFC 9110, section 7.8).
 */
export function isTaken(socket: Duplex): boolean {
  return ((socket as PipelinedSocket)._httpMessage ?? null) !== null;
}

/** Whether a part of a response was written, so that another cannot follow. */
export function isAnswering(socket: Duplex): boolean {
  return (socket as PipelinedSocket)._httpMessage?.headersSent === true;
}
