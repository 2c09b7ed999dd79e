import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { Wire } from "./parts/wire.ts";

let upstream: HttpUpstream;
let stage: Stage;
let seen: string[] = [];

beforeAll(async () => {
  upstream = await HttpUpstream.start((request, response) => {
    seen.push(request.url ?? "");
    request.resume();
    request.on("end", () => response.end("ok"));
    request.on("error", () => undefined);
  });
  stage = await Stage.start({ origin: upstream.origin });
});
beforeEach(() => {
  seen = [];
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  [
    "both Content-Length and Transfer-Encoding",
    "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  [
    "Transfer-Encoding before Content-Length",
    "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  [
    "two lengths that differ",
    "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcde",
    /^HTTP\/1\.1 400 /,
  ],
  [
    "two lengths that agree",
    "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ncontent-length: 4\r\n\r\nabcd",
    /^HTTP\/1\.1 400 /,
  ],
  ["a list of lengths", "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 4, 4\r\n\r\nabcd", /^HTTP\/1\.1 400 /],
  ["a signed length", "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: +4\r\n\r\nabcd", /^HTTP\/1\.1 400 /],
  ["a hexadecimal length", "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 0x4\r\n\r\nabcd", /^HTTP\/1\.1 400 /],
  [
    "a length beyond reason",
    "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999999999999\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  ["a folded header", "GET /a HTTP/1.1\r\nhost: a\r\nx: 1\r\n 2\r\n\r\n", /^HTTP\/1\.1 400 /],
  [
    "a folded Transfer-Encoding",
    "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  [
    "a space before the colon",
    "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  ["a bare line feed after a header", "GET /a HTTP/1.1\r\nhost: a\nx: 1\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a bare line feed after the request line", "GET /a HTTP/1.1\nhost: a\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a bare line feed at the end of the head", "GET /a HTTP/1.1\r\nhost: a\r\n\n", /^HTTP\/1\.1 400 /],
  ["a bare carriage return in a header", "GET /a HTTP/1.1\r\nhost: a\r\nx: 1\r2\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a zero byte in a header", "GET /a HTTP/1.1\r\nhost: a\r\nx: 1\x002\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a header name with a space", "GET /a HTTP/1.1\r\nhost: a\r\nx y: 1\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["an empty header name", "GET /a HTTP/1.1\r\nhost: a\r\n: 1\r\n\r\n", /^HTTP\/1\.1 400 /],
  [
    "an unknown transfer coding",
    "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 (400|501) /,
  ],
  [
    "chunked that is not last",
    "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 (400|501) /,
  ],
  [
    "a coding before chunked",
    "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 (400|501) /,
  ],
  [
    "Transfer-Encoding twice",
    "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 (400|501) /,
  ],
  [
    "Transfer-Encoding with a vertical tab",
    "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 (400|501) /,
  ],
  [
    "chunked in HTTP/1.0",
    "POST /a HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  ["no Host", "GET /a HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["two Hosts", "GET /a HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a Host with a space", "GET /a HTTP/1.1\r\nhost: a b\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a Host with a slash", "GET /a HTTP/1.1\r\nhost: a/b\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a target with user information", "GET http://u@b/ HTTP/1.1\r\nhost: a\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a target without a slash", "GET a HTTP/1.1\r\nhost: a\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a target with a space", "GET /a b HTTP/1.1\r\nhost: a\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["the version 2.0", "GET /a HTTP/2.0\r\nhost: a\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["an unknown method", "GETT /a HTTP/1.1\r\nhost: a\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["CONNECT", "CONNECT b:443 HTTP/1.1\r\nhost: b:443\r\n\r\n", /^HTTP\/1\.1 501 /],
  ["plain nonsense", "\x00\x01\x02\x03\r\n\r\n", /^HTTP\/1\.1 400 /],
];

test.each(refused)("refuses %s, and nothing of it reaches the upstream", async (_name, bytes, status) => {
  const client = await Wire.to(stage.port);
  client.send(bytes);
  expect(await client.end()).toMatch(status);
  expect(client.received).toContain("EK_FORWARD_");
  expect(client.received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(seen).toEqual([]);
  await stage.settled();
});

const brokenBodies: readonly (readonly [string, string])[] = [
  ["a chunk size that is no number", "zz\r\nabc\r\n0\r\n\r\n"],
  ["a signed chunk size", "-3\r\nabc\r\n0\r\n\r\n"],
  ["a chunk size with 0x", "0x3\r\nabc\r\n0\r\n\r\n"],
  ["a chunk size beyond reason", "fffffffffffffffff\r\nabc\r\n0\r\n\r\n"],
  ["a chunk that is longer than its size", "3\r\nabcdef\r\n0\r\n\r\n"],
  ["a bare line feed after a chunk size", "3\nabc\r\n0\r\n\r\n"],
  ["a bare line feed after a chunk", "3\r\nabc\n0\r\n\r\n"],
  ["a space in a chunk size", "3 \r\nabc\r\n0\r\n\r\n"],
];

test.each(brokenBodies)("breaks off a request with %s, at the upstream too", async (_name, body) => {
  const before = seen.length;
  const client = await Wire.to(stage.port);
  client.send(
    `POST /b HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${body}GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n`,
  );
  const answer = await client.end();
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  await stage.settled();
  expect(seen.slice(before)).not.toContain("/smuggled");
});

test("counts what it refuses for its shape", async () => {
  const client = await Wire.to(stage.port);
  client.send("GET /a HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n");
  await client.end();
  const metrics = () => stage.registry.text();
  await eventually(async () => expect(await metrics()).toMatch(/evenkeel_forward_malformed_total [1-9]/), 2_000);
});
