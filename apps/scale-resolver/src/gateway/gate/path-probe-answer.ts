import type { Destination, Exchange } from "@evenkeel/forward";

/** The header of a path probe and of its answer. The value is the prober's token. */
export const PATH_PROBE_HEADER = "evenkeel-probe";
/** An ordinary request, since proxies answer `OPTIONS *` themselves. No application has this path, and a query can leave it out. */
export const PATH_PROBE_METHOD = "GET";
export const PATH_PROBE_PATH = "/.well-known/evenkeel-path-probe";
/** What an answer has besides the header. */
export const PATH_PROBE_STATUS = 204;

const TOKEN = /^[\w.-]{1,128}$/;

/** The answer to a probe that came through a Service; nothing for any other request. */
export function pathProbeAnswer(exchange: Exchange): Destination | undefined {
  if (exchange.path !== PATH_PROBE_PATH || exchange.method !== PATH_PROBE_METHOD) return undefined;
  const token = exchange.header(PATH_PROBE_HEADER);
  if (token === undefined || !TOKEN.test(token)) return undefined;
  return { refuse: { status: PATH_PROBE_STATUS, headers: [PATH_PROBE_HEADER, token] } };
}
