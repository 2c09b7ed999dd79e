import type { Destination, Exchange } from "@evenkeel/forward";

/** The header of a path probe and of its response. The value is a token of the sender. */
export const PATH_PROBE_HEADER = "evenkeel-probe";
/**
 * An ordinary request, because proxies answer `OPTIONS *` themselves. No application has this path, and a metric query
 * can exclude it.
 */
export const PATH_PROBE_METHOD = "GET";
export const PATH_PROBE_PATH = "/.well-known/evenkeel-path-probe";
/** The first bytes of a probe. */
export const PATH_PROBE_START = `${PATH_PROBE_METHOD} ${PATH_PROBE_PATH} `;
/** The status of a response to a probe. */
export const PATH_PROBE_STATUS = 204;

const TOKEN = /^[\w.-]{1,128}$/;

/** The response to a probe through a Service; undefined for any other request. */
export function pathProbeAnswer(exchange: Exchange): Destination | undefined {
  if (exchange.path !== PATH_PROBE_PATH || exchange.method !== PATH_PROBE_METHOD) return undefined;
  const token = exchange.header(PATH_PROBE_HEADER);
  if (token === undefined || !TOKEN.test(token)) return undefined;
  return { refuse: { status: PATH_PROBE_STATUS, headers: [PATH_PROBE_HEADER, token] } };
}
