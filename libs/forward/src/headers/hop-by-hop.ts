/**
 * Headers that speak of one connection and are never forwarded (RFC 9110, section 7.6.1), and those whose meaning the framing of the
 * next connection carries anew. What `Connection` names is dropped besides.
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

/** The names, in lower case, that a `Connection` header lists besides `close`, `keep-alive` and `upgrade`, added to `names`. */
export function nominated(connection: string, names?: Set<string>): Set<string> | undefined {
  if (connection === "keep-alive" || connection === "close") return names;
  for (const token of connection.split(",")) {
    const name = token.trim().toLowerCase();
    if (name !== "" && name !== "close" && !hopByHop.has(name)) (names ??= new Set()).add(name);
  }
  return names;
}
