import { once } from "node:events";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Head } from "../src/exchange.ts";
import type { Refusal } from "../src/index.ts";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const GET = "GET /a HTTP/1.1\r\nhost: a\r\n\r\n";

/** A refusal in the owner's words: JSON, with a header of its own. */
const word = (refusal: Refusal, head: Head | undefined): Refusal => ({
  ...refusal,
  headers: [...(refusal.headers ?? []), "content-type", "application/json", "x-path", head?.path ?? "none"],
  body: JSON.stringify({ was: refusal.body, code: refusal.code, message: "größer" }),
});

let silent: WireServer;
let upstream: HttpUpstream;

beforeAll(async () => {
  silent = await WireServer.start();
  upstream = await HttpUpstream.start((_request, response) => response.end("ok"));
});
afterAll(async () => {
  await silent[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const faults: readonly [number, string, string, string][] = [
  [400, "EK_FORWARD_BAD_REQUEST", "none", "GET /a HTTP/1.1\r\nhost: a\r\nx y: 1\r\n\r\n"],
  [400, "EK_FORWARD_BAD_REQUEST", "none", "GET /a HTTP/1.1\r\n\r\n"],
  [400, "EK_FORWARD_BAD_REQUEST", "none", "GET /a HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"],
  [408, "EK_FORWARD_HEAD_TOO_SLOW", "none", "GET /a HTTP/1.1\r\nhos"],
  [431, "EK_FORWARD_HEAD_TOO_LARGE", "none", `GET /a HTTP/1.1\r\nx: ${"a".repeat(40_000)}\r\n\r\n`],
  [501, "EK_FORWARD_NOT_FORWARDED", "none", "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n"],
  [501, "EK_FORWARD_NOT_FORWARDED", "none", "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n"],
  [418, "EK_OWN", "/own", "GET /own HTTP/1.1\r\nhost: a\r\n\r\n"],
  [500, "EK_FORWARD_NO_ROUTE", "/throws", "GET /throws HTTP/1.1\r\nhost: a\r\n\r\n"],
  [500, "EK_FORWARD_NOT_ANSWERED", "/answer", "GET /answer HTTP/1.1\r\nhost: a\r\n\r\n"],
  [503, "EK_FORWARD_UNREACHABLE", "/closed", "GET /closed HTTP/1.1\r\nhost: a\r\n\r\n"],
  [504, "EK_FORWARD_TOO_SLOW", "/silent", "GET /silent HTTP/1.1\r\nhost: a\r\n\r\n"],
];

function start(own: typeof word): Promise<Stage> {
  return Stage.start({
    word: own,
    limits: { headTime: 300, tries: 1 },
    deadlines: { response: 100 },
    router: {
      route: ({ path }) => {
        if (path === "/own") return { refuse: { status: 418, code: "EK_OWN", body: "tea" } };
        if (path === "/throws") throw new Error("a defect");
        if (path === "/answer") return { answer: () => Promise.reject(new Error("a defect")) };
        if (path === "/closed") return { origin: { host: "127.0.0.1", port: 1, protocol: "http1" } };
        if (path === "/silent") return { origin: { host: "127.0.0.1", port: silent.port, protocol: "http1" } };
        return { origin: upstream.origin };
      },
    },
  });
}

describe("a refusal has the owner's words", () => {
  test.each(faults)("%s %s over HTTP/1.1, for %s", async (status, code, path, bytes) => {
    await using stage = await start(word);
    const client = await Wire.to(stage.port);
    const text = await client.send(bytes).until("}");
    const [head = "", body = ""] = text.split("\r\n\r\n");
    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(head.split("\r\n")).toEqual(
      expect.arrayContaining([
        `evenkeel-error: ${code}`,
        "content-type: application/json",
        `x-path: ${path}`,
        `content-length: ${body.length}`,
      ]),
    );
    expect(head.match(/content-type/g)).toHaveLength(1);
    expect(JSON.parse(body)).toMatchObject({ code });
    client.socket.destroy();
  });

  test("over HTTP/2", async () => {
    await using stage = await start(word);
    const session = connectHttp2(stage.url);
    const stream = session.request({ ":path": "/own" });
    const [head] = (await once(stream, "response")) as [IncomingHttpHeaders];
    let text = "";
    for await (const data of stream) text += String(data);
    session.destroy();
    expect([head["content-type"], head["x-path"], JSON.parse(text)]).toEqual([
      "application/json",
      "/own",
      { was: "tea", code: "EK_OWN", message: "größer" },
    ]);
  });

  test("unless the owner fails, and then it has its own", async () => {
    await using stage = await start(() => {
      throw new Error("no words");
    });
    const client = await Wire.to(stage.port);
    await client.send("GET /own HTTP/1.1\r\nhost: a\r\n\r\n").until(/^HTTP\/1\.1 418 [^]*tea$/);
    expect(stage.lines.filter((line) => line.includes("no words"))).toHaveLength(1);
    client.socket.destroy();
  });

  test("and an answer of an upstream keeps its own", async () => {
    await using stage = await start(word);
    const client = await Wire.to(stage.port);
    expect(await client.send(GET).until("ok")).not.toContain("x-path");
    client.socket.destroy();
  });
});
