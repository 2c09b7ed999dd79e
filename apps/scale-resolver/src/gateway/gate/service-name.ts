import type { Exchange } from "@evenkeel/forward";

/** A Service as named by a header. */
export interface ServiceName {
  readonly service: string;
  readonly namespace: string;
  readonly port: number | undefined;
}

/** The maximum length of a DNS name, with a port and Envoy's suffix. */
const LONGEST = 300;

/**
 * Parses `name.namespace` with any suffix: `checkout.shop`, `checkout.shop.svc.cluster.local:8080`, and
 * `checkout.shop.svc.cluster.local:80/*` of X-Envoy-Decorator-Operation.
 */
export function parseServiceName(text: string): ServiceName | undefined {
  if (text.length > LONGEST) return undefined;
  const match = /^([a-z0-9-]+)\.([a-z0-9-]+)(?:\.[a-z0-9.-]*)?(?::(\d{1,5}))?(?:\/.*)?$/.exec(
    text.trim().toLowerCase(),
  );
  if (!match) return undefined;
  const [, service = "", namespace = "", port] = match;
  return { service, namespace, port: port === undefined ? undefined : Number(port) };
}

/** The Services that the headers `names` (in lower case) of a request name, in order. */
export function* serviceNames(exchange: Exchange, names: readonly string[]): Generator<ServiceName> {
  for (const name of names) {
    const text = name === "host" ? exchange.host : exchange.header(name);
    const named = text === undefined ? undefined : parseServiceName(text);
    if (named) yield named;
  }
}
