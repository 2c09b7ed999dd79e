import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * Breaks a connection, so that its other end does not treat partial data as complete where the end of the connection is
 * the end of the data. A connection with TLS ends without the alert that is the end in TLS: Node cannot reset it.
 */
export function resetSocket(socket: Duplex): void {
  // All data is sent and the end is on its way. A reset at that time fails, and Node never closes the socket.
  const isEnding = socket.writableEnded && socket.writableLength === 0 && !socket.writableFinished;
  if (socket instanceof Socket && !("encrypted" in socket) && !isEnding) socket.resetAndDestroy();
  else socket.destroy();
}
