/**
 * Headers of a single connection, which are never forwarded (RFC 9110, section 7.6.1), and those that the framing of
 * the next connection replaces. Headers that `Connection` names are dropped too.
 */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

export function isHopByHop(name: string): boolean {
  return hopByHop.has(name);
}

/**
 * Adds the names that a `Connection` header lists, in lower case, to `names`, except `close`, `keep-alive` and
 * `upgrade`.
 */
export function nominated(connection: string, names?: Set<string>): Set<string> | undefined {
  if (connection === "keep-alive" || connection === "close") return names;
  for (const token of connection.split(",")) {
    const name = token.trim().toLowerCase();
    if (name !== "" && name !== "close" && !hopByHop.has(name)) (names ??= new Set()).add(name);
  }
  return names;
}
