import type { Exchange } from "../exchange.ts";

/**
 * Maximum bytes of an unread body in this process: the buffer of one Node.js stream. The rest stays with the client.
 */
const BODY_BUFFER = 64 * 1024;

/**
 * What a held opaque connection counts with. Most clients send less before they have an answer. What the others send
 * more is limited by `limits.earlyBytes`.
 */
const OPAQUE = 16 * 1024;

/** The memory of a held request: its head, and the part of its body that a stream buffers. */
export function heldBytes(
  exchange: Pick<Exchange, "path" | "host" | "headers" | "hasBody" | "header"> & Partial<Pick<Exchange, "protocol">>,
): number {
  if (exchange.protocol === "tcp") return OPAQUE;
  let bytes = exchange.path.length + exchange.host.length;
  for (const text of exchange.headers) bytes += text.length;
  if (!exchange.hasBody) return bytes;
  const length = exchange.header("content-length");
  return bytes + (length === undefined ? BODY_BUFFER : Math.min(BODY_BUFFER, Number(length) || 0));
}
