import type { Random } from "./random.ts";
import { hiddenRequest, type Input } from "./requests.ts";

/** Ways to say how long a body is, on which parsers have disagreed. */
const FRAMINGS = [
  "Content-Length: {length}\r\nTransfer-Encoding: chunked",
  "Transfer-Encoding: chunked\r\nContent-Length: {length}",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
  "Transfer-Encoding: identity, chunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: chunked, chunked",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding : chunked",
  "Transfer-Encoding:\tchunked",
  "Transfer-Encoding:\x0bchunked",
  "Transfer-Encoding: chunked\x00",
  "Transfer-Encoding: chunked;q=1",
  'Transfer-Encoding: "chunked"',
  "Transfer-Encoding:\r\n chunked",
  "Transfer_Encoding: chunked",
  " Transfer-Encoding: chunked",
  "X: y\nTransfer-Encoding: chunked",
  "X: y\rTransfer-Encoding: chunked",
  "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked",
  "Connection: Content-Length\r\nContent-Length: {length}",
  "Content-Length: {length}\r\nContent-Length: {length}",
  "Content-Length: {length}\r\nContent-Length: 0",
  "Content-Length: 0\r\nContent-Length: {length}",
  "Content-Length: {length}, {length}",
  "Content-Length: +{length}",
  "Content-Length: -{length}",
  "Content-Length: 0{length}",
  "Content-Length: 0x{length}",
  "Content-Length: {length} 0",
  "Content-Length: {length}.0",
  "Content-Length : {length}",
  "Content-Length:\r\n {length}",
  "Content-Length: 1{length}99999999999999999999",
  "Content-Length:",
  "Content-Length: {length}\r\nUpgrade: websocket\r\nConnection: upgrade",
  "Upgrade: websocket\r\nConnection: upgrade",
  "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
  "Expect: 100-continue\r\nContent-Length: {length}",
  "Expect: nonsense\r\nContent-Length: {length}",
] as const;

const REQUEST_LINES = [
  "POST {path} HTTP/1.1",
  "GET {path} HTTP/1.1",
  "HEAD {path} HTTP/1.1",
  "POST {path} HTTP/1.0",
  "POST {path} HTTP/1.2",
  "POST {path} HTTP/0.9",
  "POST {path} HTTP/2.0",
  "POST  {path} HTTP/1.1",
  "POST {path}  HTTP/1.1",
  "POST\t{path} HTTP/1.1",
  "POST {path} http/1.1",
  "POST {path}",
  "CONNECT hidden.test:80 HTTP/1.1",
  "POST http://other.test{path} HTTP/1.1",
  "POST http://a.test@other.test{path} HTTP/1.1",
  "POST {path}#fragment HTTP/1.1",
  "POST /../..{path} HTTP/1.1",
  "POST /%0d%0aX:%20y{path} HTTP/1.1",
  "POST *{path} HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "QUERY {path} HTTP/1.1",
  "po\x00st {path} HTTP/1.1",
] as const;

const CHUNK_SIZES = [
  "{hex}",
  "0{hex}",
  "0x{hex}",
  "+{hex}",
  "-{hex}",
  "{hex} ",
  " {hex}",
  "{hex};a=b",
  '{hex};a="\r\n"',
  "{hex};\n",
  "{hex}\x00",
  "100000000{hex}",
  "ffffffffffffffff{hex}",
  "{hex}g",
  "",
] as const;

const LINE_ENDS = ["\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n", "\r\n ", ""] as const;

/**
 * A request with an ambiguous length and another one hidden in the ambiguous part, sometimes with a valid one after
 * both.
 */
export function smugglingInput(random: Random): Input {
  const hidden = hiddenRequest(random);
  const path = `/s/${random.below(1e6)}`;
  const line = random.chance(0.7) ? "POST {path} HTTP/1.1" : random.pick(REQUEST_LINES);
  const framing = random.pick(FRAMINGS);
  const end = random.chance(0.8) ? "\r\n" : random.pick(LINE_ENDS);
  const body = random.pick([hidden, `0\r\n\r\n${hidden}`, chunk(random, hidden), chunk(random, hidden) + hidden]);
  const length = random.pick([body.length, 0, 5, body.length - hidden.length, body.length + 5]);
  const headers = ["Host: a.test", framing.replaceAll("{length}", String(length))];
  if (random.chance(0.1)) headers.unshift("Host: other.test");
  if (random.chance(0.1)) headers.shift();
  const after = random.chance(0.5) ? "GET /after HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n" : "";
  const text = [line.replace("{path}", path), ...headers, "", ""].join(end) + body + after;
  return { kind: "smuggling", bytes: Buffer.from(text, "latin1"), meant: undefined };
}

function chunk(random: Random, content: string): string {
  const size = random.chance(0.5) ? "{hex}" : random.pick(CHUNK_SIZES);
  const end = random.chance(0.8) ? "\r\n" : random.pick(LINE_ENDS);
  return `${size.replace("{hex}", content.length.toString(16))}${end}${content}${end}0${end}${end}`;
}
