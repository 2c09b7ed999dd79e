import { createHash } from "node:crypto";
import type { Random } from "./random.ts";

/** A request as its sender means it. */
export interface Meant {
  readonly method: string;
  readonly path: string;
  readonly digest: string;
}

/** Bytes to send on one connection, and what well-formed ones mean; undefined where nobody can say. */
export interface Input {
  readonly kind: "valid" | "mutated" | "smuggling" | "http2" | "noise";
  readonly bytes: Buffer;
  readonly meant: readonly Meant[] | undefined;
}

export function digestOf(body: Buffer): string {
  return createHash("sha1").update(body).digest("hex");
}

const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] as const;
const HEADERS = [
  "Accept: */*",
  "X-Empty:",
  "x-odd-Case: Value, with, commas",
  "Cookie: a=b; c=d",
  "Cookie: e=f",
  "TE: trailers",
  "Connection: keep-alive",
  "Connection: x-named",
  "X-Named: dropped with the connection",
  "X-Forwarded-For: 192.0.2.1",
  'Forwarded: for="[2001:db8::1]"',
  "Via: 1.0 fred",
  "Range: bytes=0-",
  "Authorization: Basic eDp5",
  "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "X-Latin: caf\u00e9",
  "Keep-Alive: timeout=5",
] as const;

/** One to four requests in a pipeline, the last of which ends the connection. */
export function validInput(random: Random): Input {
  const count = 1 + random.below(4);
  const parts: Buffer[] = [];
  const meant: Meant[] = [];
  for (let index = 0; index < count; index++) {
    const { bytes, request } = validRequest(random, `/v${index}`, index === count - 1);
    parts.push(bytes);
    meant.push(request);
  }
  return { kind: "valid", bytes: Buffer.concat(parts), meant };
}

function validRequest(random: Random, name: string, last: boolean): { bytes: Buffer; request: Meant } {
  const method = random.pick(METHODS);
  const path = `${name}/${random.below(1e6)}${random.chance(0.3) ? "?q=%20a&b=//c" : ""}`;
  const headers = [`Host: ${random.pick(["a.test", "b.test:8080", "127.0.0.1"])}`];
  for (let count = random.below(5); count > 0; count--) headers.push(random.pick(HEADERS));
  if (last) headers.push("Connection: close");
  const body = random.chance(0.5) && method !== "GET" ? anyBody(random) : undefined;
  const chunked = body !== undefined && random.chance(0.5);
  if (chunked) headers.push("Transfer-Encoding: chunked");
  else if (body) headers.push(`Content-Length: ${body.length}`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`, "latin1");
  const sent = body === undefined ? Buffer.alloc(0) : chunked ? chunks(random, body) : body;
  return {
    bytes: Buffer.concat([head, sent]),
    request: { method, path, digest: digestOf(body ?? Buffer.alloc(0)) },
  };
}

function anyBody(random: Random): Buffer {
  if (random.chance(0.03)) return random.bytes(70_000);
  if (random.chance(0.4)) return Buffer.from(hiddenRequest(random));
  return random.bytes(random.below(200));
}

/** What an attacker would like the upstream to take for a request of its own. */
export function hiddenRequest(random: Random): string {
  return `GET /hidden/${random.below(1e6)} HTTP/1.1\r\nHost: hidden.test\r\n\r\n`;
}

function chunks(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const part = body.subarray(at, at + 1 + random.below(body.length));
    at += part.length;
    parts.push(Buffer.from(`${part.length.toString(16)}${random.chance(0.2) ? ";name=value" : ""}\r\n`), part);
    parts.push(Buffer.from("\r\n"));
  }
  parts.push(Buffer.from(random.chance(0.3) ? "0\r\nX-Trailer: there\r\n\r\n" : "0\r\n\r\n"));
  return Buffer.concat(parts);
}
