import type { Exchange, Failure, Forward } from "@evenkeel/forward";
import type { Reach } from "../members/member-client.ts";
import { protocolsWithoutToken } from "./authentication/bearer-token.ts";
import type { GatewayRequest } from "./gateway-request.ts";
import { clusterPath, isConnect } from "./kube-path.ts";

/** In milliseconds. */
export interface GatewayDeadlines {
  /** For the head of an answer; requests that last as long as the client wants have none. */
  readonly response: number;
  /** Without a byte of the request's or the answer's body, for the same requests. */
  readonly idle: number;
}

/** Sends a request to one member as it came, but for who asks. */
export function forwardTo(request: GatewayRequest, reach: Reach, deadlines: GatewayDeadlines): Forward {
  const { exchange, auditId, isLongRunning, path } = request;
  const protocols = exchange.upgrade === undefined ? undefined : protocolsWithoutToken(exchange);
  const headers = reach.headers.concat("audit-id", auditId);
  if (protocols !== undefined) headers.push("sec-websocket-protocol", protocols);
  return {
    origin: reach.origin,
    host: reach.host,
    path: reach.prefix + path,
    headers,
    deadlines: isLongRunning ? { response: 0, idle: 0 } : deadlines,
    settled: ({ status }) => {
      if (status === 401) reach.refused?.();
      request.end(status);
    },
  };
}

/**
 * Sends a request once more only if it cannot have arrived, or if it is a read: a second PUT or DELETE that the
 * Kubernetes API has carried out already gets another answer than the first. An exec over WebSocket is a GET, but no
 * read.
 */
export function retryForward(exchange: Retried, failure: Failure): Forward | undefined {
  const isHarmless = failure.kind === "connect" || isRead(exchange);
  return failure.tries < 2 && isHarmless ? failure.forward : undefined;
}

type Retried = Pick<Exchange, "method" | "path" | "upgrade">;

function isRead({ method, path, upgrade }: Retried): boolean {
  if (upgrade !== undefined || (method !== "GET" && method !== "HEAD")) return false;
  return !isConnect(method, clusterPath(path)?.path ?? path);
}
