import type { Forward } from "../destination.ts";
import type { Exchange } from "../exchange.ts";
import { isHopByHop, nominated } from "./hop-by-hop.ts";
import type { StrippedHeaders } from "./stripped-headers.ts";

/** Names that `requestHeaders` writes itself. */
const written = new Set([
  "host",
  "content-length",
  "expect",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "forwarded",
  "via",
  "cookie",
]);

export interface RequestHeaders {
  /** Alternating names and values, without Host, framing and the headers of one connection. */
  readonly list: string[];
  readonly host: string;
}

/**
 * The request headers for the upstream: all except those of the client's connection, with the proxy headers
 * (`X-Forwarded-*`, `Forwarded`, `Via`, appended to those of earlier proxies) and those of the route.
 */
export function requestHeaders(
  exchange: Exchange,
  forward: Forward,
  proxy: string,
  strip?: StrippedHeaders,
): RequestHeaders {
  const { headers, remoteAddress, scheme } = exchange;
  const replaced = forward.headers;
  const list: string[] = [];
  let host = exchange.host;
  let forwardedFor = "";
  let forwardedProto = "";
  let forwardedHost = "";
  let forwarded = "";
  let via = "";
  let cookie = "";
  let trailers = false;
  let dropped: Set<string> | undefined;
  for (let index = 0; index < headers.length; index += 2) {
    if ((headers[index] as string).length === 10 && (headers[index] as string).toLowerCase() === "connection") {
      dropped = nominated(headers[index + 1] as string, dropped);
    }
  }
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    const value = headers[index + 1] as string;
    if (strip?.has(name) === true) continue;
    if (written.has(name)) {
      if (name === "x-forwarded-for") forwardedFor = joined(forwardedFor, value, ", ");
      else if (name === "x-forwarded-proto") forwardedProto = value;
      else if (name === "x-forwarded-host") forwardedHost = value;
      else if (name === "forwarded") forwarded = joined(forwarded, value, ", ");
      else if (name === "via") via = joined(via, value, ", ");
      else if (name === "cookie") cookie = joined(cookie, value, "; ");
    } else if (isHopByHop(name)) {
      if (name === "te" && /(^|,)\s*trailers\s*(,|$)/i.test(value)) trailers = true;
    } else if (!(dropped?.has(name) ?? false) && !(replaced && replaces(replaced, name))) list.push(name, value);
  }
  if (cookie !== "" && !(replaced && replaces(replaced, "cookie"))) list.push("cookie", cookie);
  if (trailers) list.push("te", "trailers");
  const own = replaced ? [] : list;
  own.push(
    "x-forwarded-for",
    joined(forwardedFor, remoteAddress, ", "),
    "x-forwarded-proto",
    forwardedProto === "" ? scheme : forwardedProto,
    "x-forwarded-host",
    forwardedHost === "" ? exchange.host : forwardedHost,
    "forwarded",
    joined(forwarded, forwardedElement(remoteAddress, exchange.host, scheme), ", "),
    "via",
    joined(via, `${viaVersion(exchange)} ${proxy}`, ", "),
  );
  if (replaced) {
    for (let index = 0; index < own.length; index += 2) {
      if (!replaces(replaced, own[index] as string)) list.push(own[index] as string, own[index + 1] as string);
    }
    for (let index = 0; index < replaced.length; index += 2) {
      if (replaced[index] === "host") host = replaced[index + 1] as string;
      else list.push(replaced[index] as string, replaced[index + 1] as string);
    }
  }
  return { list, host: forward.host ?? host };
}

function replaces(replaced: readonly string[], name: string): boolean {
  for (let index = 0; index < replaced.length; index += 2) if (replaced[index] === name) return true;
  return false;
}

function joined(before: string, value: string, separator: string): string {
  return before === "" ? value : before + separator + value;
}

/** RFC 7239. IPv6 addresses and hosts with a port are quoted, because a token cannot contain a colon. */
function forwardedElement(address: string, host: string, scheme: string): string {
  const node = address.includes(":") ? `"[${address}]"` : address;
  const quoted = /^[\w.~-]+$/.test(host) ? host : `"${host.replaceAll(/["\\]/g, "")}"`;
  return `for=${node};host=${quoted};proto=${scheme}`;
}

function viaVersion({ protocol }: Exchange): string {
  return protocol === "http/1.1" ? "1.1" : protocol === "http/1.0" ? "1.0" : "2.0";
}
