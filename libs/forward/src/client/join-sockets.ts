import type { Duplex } from "node:stream";

/** One end of a tunnel, and what it has already said. */
export interface TunnelEnd {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * Carries bytes both ways. The end of one direction is passed on and leaves the other open; a break at one end breaks the other.
 * `over` is called once, when both are closed.
 */
export function joinSockets(client: TunnelEnd, upstream: TunnelEnd, over: () => void): void {
  let open = 2;
  const watch = (own: Duplex, other: Duplex) => {
    own.allowHalfOpen = true;
    own.on("error", () => undefined);
    own.once("close", () => {
      // Both directions have ended: what is still buffered for the other side may be written out.
      if (!own.readableEnded || !other.readableEnded) other.destroy();
      open -= 1;
      if (open === 0) over();
    });
  };
  watch(client.socket, upstream.socket);
  watch(upstream.socket, client.socket);
  if (client.head.length > 0) upstream.socket.write(client.head);
  if (upstream.head.length > 0) client.socket.write(upstream.head);
  client.socket.pipe(upstream.socket);
  upstream.socket.pipe(client.socket);
  if (client.socket.destroyed) upstream.socket.destroy();
  if (upstream.socket.destroyed) client.socket.destroy();
}
