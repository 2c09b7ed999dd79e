import { isHopByHop, nominated } from "./hop-by-hop.ts";

type Parsed = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The response headers for the client, from an object with names in lower case. */
export function answerHeaders(parsed: Parsed): string[] {
  const list: string[] = [];
  const connection = parsed["connection"];
  const dropped = connection === undefined ? undefined : nominated(String(connection));
  for (const name in parsed) {
    if (isHopByHop(name) || name.startsWith(":") || (dropped?.has(name) ?? false)) continue;
    const value = parsed[name];
    if (typeof value === "string") list.push(name, value);
    else if (value) for (const one of value) list.push(name, one);
  }
  return list;
}

/** The same from a list of alternating names and values. */
export function answerHeaderList(raw: readonly string[]): string[] {
  const list: string[] = [];
  let dropped: Set<string> | undefined;
  for (let index = 0; index < raw.length; index += 2) {
    if ((raw[index] as string).length === 10 && (raw[index] as string).toLowerCase() === "connection") {
      dropped = nominated(raw[index + 1] as string, dropped);
    }
  }
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    if (isHopByHop(name) || name.startsWith(":") || (dropped?.has(name) ?? false)) continue;
    list.push(name, raw[index + 1] as string);
  }
  return list;
}

/** The trailers that may be forwarded: not those that would change framing, routing or authentication. */
export function trailerList(raw: readonly string[]): string[] {
  const list: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    if (!isHopByHop(name) && !name.startsWith(":") && !noTrailer.has(name)) list.push(name, raw[index + 1] as string);
  }
  return list;
}

const noTrailer = new Set([
  "content-length",
  "host",
  "content-encoding",
  "content-type",
  "content-range",
  "trailer",
  "authorization",
  "set-cookie",
  "cache-control",
  "expect",
]);
