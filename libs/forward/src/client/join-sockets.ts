import type { Duplex } from "node:stream";
import { resetSocket } from "./reset-socket.ts";

/**
 * Forwards bytes in both directions. The end of one direction is forwarded and leaves the other open. A break at one
 * end breaks the other. `over` is called once, when both are closed.
 */
export function joinSockets(client: Duplex, upstream: Duplex, over: () => void): void {
  let open = 2;
  const watch = (own: Duplex, other: Duplex) => {
    own.allowHalfOpen = true;
    own.on("error", () => undefined);
    own.once("close", () => {
      // Both directions have ended, so buffered data may still be written to the other side.
      if (!own.readableEnded || !other.readableEnded) resetSocket(other);
      open -= 1;
      if (open === 0) over();
    });
  };
  watch(client, upstream);
  watch(upstream, client);
  client.pipe(upstream);
  upstream.pipe(client);
  if (client.destroyed) resetSocket(upstream);
  if (upstream.destroyed) resetSocket(client);
}
