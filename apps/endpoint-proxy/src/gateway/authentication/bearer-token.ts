import type { Exchange } from "@evenkeel/forward";

/** In front of a token that a browser sends as a WebSocket protocol, because it cannot set headers. */
const PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** The bearer token of a request, from `Authorization` or from the protocols of a WebSocket. */
export function tokenOf(exchange: Pick<Exchange, "header">): string | undefined {
  const authorization = exchange.header("authorization");
  if (authorization !== undefined) return /^Bearer +([^\s]+)\s*$/i.exec(authorization)?.[1];
  const protocol = protocolsOf(exchange).find((one) => one.startsWith(PROTOCOL));
  if (protocol === undefined) return undefined;
  const token = Buffer.from(protocol.slice(PROTOCOL.length), "base64url").toString("utf8");
  return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}

/** The protocols of a WebSocket without the token; undefined if they hold none. */
export function protocolsWithoutToken(exchange: Pick<Exchange, "header">): string | undefined {
  const all = protocolsOf(exchange);
  const kept = all.filter((one) => !one.startsWith(PROTOCOL));
  return kept.length === all.length ? undefined : kept.join(", ");
}

function protocolsOf(exchange: Pick<Exchange, "header">): string[] {
  const text = exchange.header("sec-websocket-protocol");
  return text === undefined ? [] : text.split(",").map((one) => one.trim());
}
