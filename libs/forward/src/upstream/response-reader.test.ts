import { describe, expect, test } from "@jest/globals";
import { MalformedResponse } from "./response-head.ts";
import { ResponseReader } from "./response-reader.ts";

const LIMIT = 1024;

/**
 * What a reader says of `bytes`, that arrive in parts of `size` bytes. `closed`: what it says when the upstream closes.
 */
function read(bytes: string, { size = Infinity, method = "GET", closes = false } = {}) {
  const told: string[] = [];
  const reader = new ResponseReader(LIMIT);
  let body = "";
  reader.begin(
    {
      head: ({ status, text, headers }) => told.push(`${status} ${text} [${headers.join(" ")}]`),
      part: (data) => (body += data.toString("latin1")),
      end: (trailers) => told.push(`${body} [${trailers.join(" ")}]`),
    },
    method === "HEAD",
  );
  const all = Buffer.from(bytes, "latin1");
  for (let at = 0; at < all.length; at += size) reader.read(all.subarray(at, Math.min(all.length, at + size)));
  const isComplete = closes ? reader.close() : undefined;
  return { told, isReusable: reader.isReusable, ...(closes && { isComplete }) };
}

const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

describe.each([Infinity, 1, 2, 3, 7])("a response in parts of %d bytes", (size) => {
  test.each([
    ["with a length", `${OK}Content-Length: 2\r\n\r\nok`, ["200 OK [content-length 2]", "ok []"]],
    ["with a length of 0", `${OK}content-length: 0\r\n\r\n`, ["200 OK [content-length 0]", " []"]],
    ["without a reason", "HTTP/1.1 404\r\ncontent-length: 0\r\n\r\n", ["404  [content-length 0]", " []"]],
    ["with blanks around a value", `${OK}content-length:\t 1 \r\n\r\nx`, ["200 OK [content-length 1]", "x []"]],
    ["without headers or a body", "HTTP/1.1 204 No Content\r\n\r\n", ["204 No Content []", " []"]],
    [
      "with bytes that are not ASCII",
      `${OK}x: \xa0\xe9\xa0\r\ncontent-length: 1\r\n\r\n\xff`,
      ["200 OK [x \xa0\xe9\xa0 content-length 1]", "\xff []"],
    ],
    [
      "in chunks",
      `${CHUNKED}2\r\nab\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`,
      ["200 OK [transfer-encoding chunked]", "ab0123456789 []"],
    ],
    [
      "in chunks with trailers",
      `${CHUNKED}2\r\nab\r\n000\r\nX-Sum: 7\r\ny:\r\n\r\n`,
      ["200 OK [transfer-encoding chunked]", "ab [x-sum 7 y ]"],
    ],
    [
      "after interim responses",
      `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${OK}content-length: 1\r\n\r\nx`,
      ["103 Early Hints [link a]", "102 Processing []", "200 OK [content-length 1]", "x []"],
    ],
  ])("%s is complete, and its connection is used again", (_name, bytes, told) => {
    expect(read(bytes, { size })).toEqual({ told, isReusable: true });
  });

  test("to HEAD has no body, whatever its length", () => {
    const told = ["200 OK [content-length 5]", " []"];
    expect(read(`${OK}content-length: 5\r\n\r\n`, { size, method: "HEAD" })).toEqual({ told, isReusable: true });
  });

  test.each([
    ["says close", `${OK}connection: x, Close\r\ncontent-length: 1\r\n\r\nx`],
    ["is of HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx"],
    ["has bytes behind it", `${OK}content-length: 1\r\n\r\nx${OK}`],
    ["announces a body that cannot follow", "HTTP/1.1 304 Not Modified\r\ncontent-length: 1\r\n\r\n"],
  ])("that %s ends its connection", (_name, bytes) => {
    const { told, isReusable } = read(bytes, { size });
    expect([told.length, isReusable]).toEqual([2, false]);
  });

  test.each([
    ["without a length", `${OK}\r\nall of it`, ["200 OK []", "all of it []"]],
    ["with another coding", `${OK}transfer-encoding: gzip\r\n\r\nall`, ["200 OK [transfer-encoding gzip]", "all []"]],
  ])("%s ends when the upstream closes", (_name, bytes, told) => {
    expect(read(bytes, { size, closes: true })).toEqual({ told, isReusable: false, isComplete: true });
  });

  test.each([
    ["inside the head", "HTTP/1.1 200 OK\r\ncontent-le"],
    ["inside a body with a length", `${OK}content-length: 3\r\n\r\nab`],
    ["inside a chunk", `${CHUNKED}3\r\nab`],
    ["before the trailers end", `${CHUNKED}0\r\nx-sum: 7\r\n`],
    ["after an interim response", "HTTP/1.1 103 Early Hints\r\n\r\n"],
  ])("is not complete if the upstream closes %s", (_name, bytes) => {
    expect(read(bytes, { size, closes: true })).toMatchObject({ isReusable: false, isComplete: false });
  });

  test.each([
    ["no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["another version", "HTTP/2.0 200 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["an upgrade that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["two lengths", `${OK}content-length: 1\r\ncontent-length: 1\r\n\r\nx`],
    ["a length that is no number", `${OK}content-length: +1\r\n\r\nx`],
    ["a length and chunks", `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\nx`],
    ["a blank before the colon", `${OK}content-length : 1\r\n\r\nx`],
    ["a folded line", `${OK}x: 1\r\n 2\r\n\r\n`],
    ["a line without a colon", `${OK}x\r\n\r\n`],
    ["a bare line feed", `${OK}x: 1\ny: 2\r\n\r\n`],
    ["a bare carriage return", `${OK}x: 1\ry: 2\r\n\r\n`],
    ["a NUL", `${OK}x: \0\r\n\r\n`],
    ["a head over the limit", `${OK}x: ${"y".repeat(LIMIT)}\r\n\r\n`],
    ["a head over the limit without an end", `${OK}x: ${"y".repeat(LIMIT)}`],
    ["a chunk without a size", `${CHUNKED}\r\n`],
    ["a size with a sign", `${CHUNKED}+1\r\nx\r\n`],
    ["a size that is too large", `${CHUNKED}${"f".repeat(16)}\r\n`],
    ["a size with a bare line feed", `${CHUNKED}1\nx\r\n`],
    ["a chunk that is longer than its size", `${CHUNKED}1\r\nxy\r\n`],
    ["a size line over the limit", `${CHUNKED}1;${"y".repeat(8_192)}\r\nx`],
    ["a malformed trailer", `${CHUNKED}0\r\nx y: 1\r\n\r\n`],
    ["trailers over the limit", `${CHUNKED}0\r\nx: ${"y".repeat(LIMIT)}\r\n\r\n`],
  ])("is refused with %s", (_name, bytes) => {
    expect(() => read(bytes, { size })).toThrow(MalformedResponse);
  });
});

test("a sink gets nothing after it has stopped the reader", () => {
  const told: string[] = [];
  const reader = new ResponseReader(LIMIT);
  const sink = {
    head: () => undefined,
    part: (data: Buffer) => {
      told.push(data.toString());
      reader.stop();
    },
    end: () => told.push("end"),
  };
  reader.begin(sink, false);
  reader.read(Buffer.from(`${CHUNKED}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`));
  expect([told, reader.isReusable]).toEqual([["a"], false]);
});

test("an upstream says how long it keeps idle connections", () => {
  const reader = new ResponseReader(LIMIT);
  const sink = { head: () => undefined, part: () => undefined, end: () => undefined };
  reader.begin(sink, false);
  reader.read(Buffer.from(`${OK}keep-alive: timeout=5, max=100\r\ncontent-length: 0\r\n\r\n`));
  expect(reader.keptFor).toBe(5_000);
});
