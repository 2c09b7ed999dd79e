import type { Duplex } from "node:stream";

/** One end of a tunnel, and the data that it has already sent. */
export interface TunnelEnd {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * Forwards bytes in both directions. The end of one direction is forwarded and leaves the other open. A break at one
 * end breaks the other. `over` is called once, when both are closed.
 */
export function joinSockets(client: TunnelEnd, upstream: TunnelEnd, over: () => void): void {
  let open = 2;
  const watch = (own: Duplex, other: Duplex) => {
    own.allowHalfOpen = true;
    own.on("error", () => undefined);
    own.once("close", () => {
      // Both directions have ended, so buffered data may still be written to the other side.
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
