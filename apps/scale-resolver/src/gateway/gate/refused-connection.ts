import type { Failure } from "@evenkeel/forward";

/** Error codes of an address that accepts no connections now, and may soon. */
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
 * Whether no connection was made, so that waiting for one makes sense. A pod that accepts the connection and then does
 * not speak HTTP/2, or closes it, also fails before the request is sent, but it may do so every time.
 */
export function isRefusal({ kind, error }: Pick<Failure, "kind" | "error">): boolean {
  if (kind !== "connect") return false;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && (CODES.has(code) || isResetAtConnect(error));
}

/**
 * Whether the pod had closed a kept-alive HTTP/1.1 connection before anything was sent. The number of such failures in
 * a row is limited by the kept-alive connections: a new connection is either made or refused.
 */
export function wasClosedMeanwhile({ kind, origin, error }: Pick<Failure, "kind" | "origin" | "error">): boolean {
  const { code } = error as { code?: unknown };
  return kind === "connect" && origin.protocol === "http1" && code === "ECONNRESET" && !isResetAtConnect(error);
}

/** Whether a new connection was reset while it was made. An overloaded pod does so, or a proxy without a server. */
function isResetAtConnect(error: Error): boolean {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  return code === "ECONNRESET" && syscall === "connect";
}
