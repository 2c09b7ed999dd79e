import type { Failure } from "@evenkeel/forward";

/** What connecting to an address fails with that takes no connections now, and may in a moment. */
const CODES = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "EMFILE",
  "ENFILE",
  "EADDRNOTAVAIL",
]);

/**
 * Whether no connection was made, so that it is worth while to wait for one. A pod that takes the connection and then does not speak
 * HTTP/2, or closes it, fails before the request is sent too; it may do so every time.
 */
export function isRefusal({ kind, error }: Pick<Failure, "kind" | "error">): boolean {
  if (kind !== "connect") return false;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && CODES.has(code);
}

/**
 * Whether a connection of HTTP/1.1 that was kept had been closed before anything was sent. Only as many of these can follow each other as were kept:
 * a new connection either is made or is refused.
 */
export function wasClosedMeanwhile({ kind, origin, error }: Pick<Failure, "kind" | "origin" | "error">): boolean {
  return kind === "connect" && origin.protocol === "http1" && (error as { code?: unknown }).code === "ECONNRESET";
}
