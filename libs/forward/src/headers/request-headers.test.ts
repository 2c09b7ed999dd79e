import { describe, expect, test } from "@jest/globals";
import type { Forward } from "../destination.ts";
import type { Exchange } from "../exchange.ts";
import { requestHeaders } from "./request-headers.ts";
import { StrippedHeaders } from "./stripped-headers.ts";

const origin = { host: "10.0.0.1", port: 80, protocol: "http1" } as const;

function sent(
  headers: readonly string[],
  more: Partial<Exchange> = {},
  forward: Partial<Forward> = {},
  strip?: StrippedHeaders,
) {
  const exchange = { headers, host: "shop", scheme: "http", remoteAddress: "192.0.2.9", protocol: "http/1.1", ...more };
  const { list, host } = requestHeaders(exchange as Exchange, { origin, ...forward }, "keel", strip);
  const lines: string[] = [];
  for (let index = 0; index < list.length; index += 2) lines.push(`${list[index]}: ${list[index + 1]}`);
  return { lines, host };
}

const way = [
  "x-forwarded-for: 192.0.2.9",
  "x-forwarded-proto: http",
  "x-forwarded-host: shop",
  "forwarded: for=192.0.2.9;host=shop;proto=http",
  "via: 1.1 keel",
];

describe("the headers of a forwarded request", () => {
  test.each<[string, string[], string[]]>([
    ["keep what is end to end, in order and several times", ["A", "1", "b", "2", "a", "3"], ["a: 1", "b: 2", "a: 3"]],
    ["drop what is of one connection", ["Connection", "close", "Keep-Alive", "5", "Upgrade", "h2c", "TE", "gzip"], []],
    ["drop what Connection names, in any spelling", ["connection", "X-One , x-two", "x-one", "1", "X-Two", "2"], []],
    [
      "drop what several Connection headers name",
      ["connection", "x-one", "connection", "x-two", "x-one", "1", "x-two", "2"],
      [],
    ],
    [
      "drop framing, which is written anew",
      ["Content-Length", "3", "Transfer-Encoding", "chunked", "Expect", "100-continue"],
      [],
    ],
    ["keep the wish for trailers", ["te", "trailers;q=0.5, trailers"], ["te: trailers"]],
    ["join cookies", ["cookie", "a=1", "cookie", "b=2"], ["cookie: a=1; b=2"]],
    [
      "keep the trace",
      ["traceparent", "00-1-2-01", "tracestate", "a=b"],
      ["traceparent: 00-1-2-01", "tracestate: a=b"],
    ],
  ])("%s", (_name, headers, kept) => {
    expect(sent(headers).lines).toEqual([...kept, ...way]);
  });

  test("of forwarding are kept although Connection names them", () => {
    expect(sent(["connection", "x-forwarded-for, via, host", "x-forwarded-for", "203.0.113.1"]).lines).toEqual([
      "x-forwarded-for: 203.0.113.1, 192.0.2.9",
      ...way.slice(1),
    ]);
  });

  test("add to those of earlier proxies", () => {
    const { lines } = sent([
      "forwarded",
      "for=a",
      "forwarded",
      "for=b",
      "x-forwarded-host",
      "outer",
      "x-forwarded-proto",
      "https",
    ]);
    expect(lines).toContain("forwarded: for=a, for=b, for=192.0.2.9;host=shop;proto=http");
    expect(lines).toContain("x-forwarded-host: outer");
    expect(lines).toContain("x-forwarded-proto: https");
  });

  test("quote addresses of IPv6 and hosts with a port", () => {
    expect(sent([], { remoteAddress: "2001:db8::1", host: "shop:8080" }).lines).toContain(
      'forwarded: for="[2001:db8::1]";host="shop:8080";proto=http',
    );
  });

  test("leave the Host empty where the client named none", () => {
    expect(sent([], { host: "" }).host).toBe("");
  });

  test("are replaced as the route says, also those of forwarding", () => {
    const { lines, host } = sent(
      ["x-a", "1", "cookie", "c=1"],
      {},
      { headers: ["x-a", "2", "cookie", "d=2", "via", "none", "host", "inner"] },
    );
    expect(host).toBe("inner");
    expect(lines).toEqual([...way.slice(0, 4), "x-a: 2", "cookie: d=2", "via: none"]);
  });
});

describe("stripped headers", () => {
  const strip = new StrippedHeaders({
    names: ["authorization", "x-forwarded-for", "cookie"],
    prefixes: ["impersonate-", "x-remote-"],
  });
  const forged = ["Authorization", "Bearer a", "Impersonate-User", "root", "X-REMOTE-Group", "b", "Cookie", "c=1"];
  const route = ["authorization", "Bearer ours", "impersonate-user", "alice"];
  const ours = ["authorization: Bearer ours", "impersonate-user: alice"];

  test("of clients never pass, by name and by prefix, in any spelling", () => {
    expect(sent(["x-one", "1", ...forged, "x-forwarded-for", "10.0.0.1"], {}, {}, strip).lines).toEqual([
      "x-one: 1",
      ...way,
    ]);
  });

  test.each([
    ["alone", []],
    ["instead of the client's", forged],
    ["although the client's Connection names them", ["connection", "impersonate-user, authorization", ...forged]],
    ["although Connection names headers that the client did not send", ["Connection", "Impersonate-User"]],
  ])("of the route pass, %s", (_name, headers) => {
    expect(sent(headers, {}, { headers: route }, strip).lines).toEqual([...way, ...ours]);
  });

  test("are left out of trailers", () => {
    expect(strip.rest(["X-Sum", "1", "Impersonate-User", "root"])).toEqual(["X-Sum", "1"]);
  });
});
