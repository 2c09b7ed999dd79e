import type { Destination, Exchange } from "@evenkeel/forward";

/** The header of a path probe and of its answer. The value is the prober's token. */
export const PATH_PROBE_HEADER = "evenkeel-probe";
/** A path probe asks the server itself: no application sees it. */
export const PATH_PROBE_METHOD = "OPTIONS";
export const PATH_PROBE_PATH = "*";
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
