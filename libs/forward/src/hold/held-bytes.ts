import type { Exchange } from "../exchange.ts";

/** Of an unread body the process keeps at most this: the buffer of one stream of Node.js. The rest stays with the client. */
const BODY_BUFFER = 64 * 1024;

/** The memory that a held request takes: its head, and as much of its body as a stream buffers. */
export function heldBytes(exchange: Pick<Exchange, "path" | "host" | "headers" | "hasBody" | "header">): number {
  let bytes = exchange.path.length + exchange.host.length;
  for (const text of exchange.headers) bytes += text.length;
  if (!exchange.hasBody) return bytes;
  const length = exchange.header("content-length");
  return bytes + (length === undefined ? BODY_BUFFER : Math.min(BODY_BUFFER, Number(length) || 0));
}
