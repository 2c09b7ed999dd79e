import type { Input } from "./requests.ts";
import type { Forwarded, Seen } from "./seen.ts";

/** What the forwarder writes itself, or keeps to one connection: it need not reach the upstream as it came. */
const OWN = new Set([
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
  "content-length",
  "expect",
  "cookie",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "forwarded",
  "via",
  "x-fuzz-id",
]);

export interface Evidence {
  readonly upstream: "node" | "go";
  readonly forwarded: readonly Forwarded[];
  readonly seen: readonly Seen[];
}

/** Each way in which what an upstream saw differs from what the forwarder meant to send. */
export function differences({ upstream, forwarded, seen }: Evidence): string[] {
  const meant = new Map(forwarded.map((request) => [request.id, request]));
  const arrived = new Set<string>();
  const found: string[] = [];
  for (const request of seen) {
    const where = `${upstream}, ${request.id || "no id"}`;
    const intent = meant.get(request.id);
    if (!intent) {
      found.push(`${where}: a request that was never forwarded: ${request.method} ${request.path}`);
      continue;
    }
    if (arrived.has(request.id)) found.push(`${where}: arrived twice`);
    arrived.add(request.id);
    for (const part of ["method", "path", "host"] as const) {
      if (request[part] !== intent[part])
        found.push(`${where}: ${part} ${JSON.stringify(intent[part])} became ${JSON.stringify(request[part])}`);
    }
    found.push(...headerDifferences(intent, request).map((difference) => `${where}: ${difference}`));
  }
  return found;
}

function headerDifferences(intent: Forwarded, request: Seen): string[] {
  const dropped = namedByConnection(intent);
  const ofInterest = (name: string) => !OWN.has(name) && !dropped.has(name);
  const sent: string[] = [];
  for (let index = 0; index < intent.headers.length; index += 2) {
    const name = (intent.headers[index] ?? "").toLowerCase();
    if (ofInterest(name)) sent.push(`${name}: ${comparable(intent.headers[index + 1] ?? "")}`);
  }
  const got = request.headers
    .filter(([name]) => ofInterest(name))
    .map(([name, value]) => `${name}: ${comparable(value)}`);
  return [
    ...without(got, sent).map((header) => `a header that was never sent: ${JSON.stringify(header)}`),
    ...without(sent, got).map((header) => `a header that was lost: ${JSON.stringify(header)}`),
  ];
}

/** What is left of a list after one of each of another's items is taken out. */
function without(list: readonly string[], taken: readonly string[]): string[] {
  const rest = [...list];
  for (const item of taken) {
    const at = rest.indexOf(item);
    if (at >= 0) rest.splice(at, 1);
  }
  return rest;
}

/**
 * Go gives bytes above ASCII as they are and JSON makes one character of those that are no UTF-8, so they all count as
 * the same. Only then is it trimmed: the byte 0xa0 is a space for JavaScript, and none for HTTP.
 */
function comparable(value: string): string {
  return value.replaceAll(/[^\t\x20-\x7e]+/g, "?").trim();
}

function namedByConnection({ headers }: Forwarded): Set<string> {
  const names = new Set<string>();
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() !== "connection") continue;
    for (const token of (headers[index + 1] ?? "").split(",")) names.add(token.trim().toLowerCase());
  }
  return names;
}

/** Requests that both upstreams took whole: how many, and where the two understood a body in two ways. */
export function disagreements(node: readonly Seen[], go: readonly Seen[]): { compared: number; found: string[] } {
  const whole = new Map(go.filter(({ complete }) => complete).map((request) => [request.id, request]));
  const found: string[] = [];
  let compared = 0;
  for (const request of node) {
    const other = whole.get(request.id);
    if (!other || !request.complete) continue;
    compared += 1;
    if (request.digest !== other.digest)
      found.push(`${request.id}: a body of ${request.bytes} bytes for node and of ${other.bytes} for Go`);
  }
  return { compared, found };
}

/** Where a well-formed input did not arrive exactly as its sender meant it. */
export function losses(input: Input, index: number, seen: ReadonlyMap<string, Seen>): string[] {
  return (input.meant ?? []).flatMap((meant, position) => {
    const request = seen.get(`${index}-${position}`);
    const { method, path, digest } = request ?? {};
    if (request?.complete && method === meant.method && path === meant.path && digest === meant.digest) return [];
    return [`${index}-${position}: ${meant.method} ${meant.path} did not arrive whole: ${JSON.stringify(request)}`];
  });
}
