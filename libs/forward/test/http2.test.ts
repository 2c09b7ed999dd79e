import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { describe, expect, test } from "@jest/globals";
import { http2Upstream } from "./parts/http2-upstream.ts";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

interface Answer {
  readonly status: number;
  readonly head: IncomingHttpHeaders;
  readonly text: string;
}

async function ask(session: ClientHttp2Session, head: OutgoingHttpHeaders, body?: string): Promise<Answer> {
  const stream = session.request({ ":path": "/", ...head }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status": number }];
  let text = "";
  for await (const data of stream) text += String(data);
  return { status: answer[":status"], head: answer, text };
}

describe("a client of HTTP/1.1 before an upstream of HTTP/2", () => {
  test("is served bodies both ways, interim answers and trailers", async () => {
    await using upstream = await http2Upstream((stream, head) => {
      let text = "";
      stream.on("data", (data: Buffer) => (text += data.toString()));
      stream.on("end", () => {
        stream.additionalHeaders({ ":status": 103, link: "</a>" });
        stream.respond({ ":status": 200, "x-host": head[":authority"] }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "7" }));
        stream.end(`got ${text}`);
      });
    });
    await using stage = await Stage.start({ origin: upstream.origin });
    const client = await Wire.to(stage.port);
    client.send("POST / HTTP/1.1\r\nhost: shop\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    const answer = await client.until("x-sum: 7\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nlink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK\r\nx-host: shop\r\n/);
    expect(answer).toContain("7\r\ngot abc\r\n0\r\n");
    client.socket.destroy();
    await stage.settled();
  });

  test("is told 100 Continue when the upstream says so, and not before", async () => {
    await using upstream = await http2Upstream((stream, head) => {
      expect(head.expect).toBe("100-continue");
      stream.additionalHeaders({ ":status": 100 });
      stream.resume().on("end", () => {
        stream.respond({ ":status": 201 });
        stream.end();
      });
    });
    await using stage = await Stage.start({ origin: upstream.origin, deadlines: { expect: 0 } });
    const client = await Wire.to(stage.port);
    client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\nexpect: 100-continue\r\n\r\n");
    await client.until("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("abc");
    await client.until("HTTP/1.1 201 ");
    client.socket.destroy();
  });
});

describe("a client of HTTP/2", () => {
  test.each([
    ["HEAD", 200, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"],
    ["GET", 204, "HTTP/1.1 204 No Content\r\n\r\n"],
    ["GET", 304, "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n"],
  ])("gets an answer to %s with %i and no body", async (method, status, bytes) => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: { host: "127.0.0.1", port: upstream.port, protocol: "http1" } });
    const session = connect(stage.url);
    const answer = ask(session, { ":method": method });
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    up.send(bytes);
    expect(await answer).toMatchObject({ status, text: "" });
    await stage.settled();
    session.destroy();
  });

  test("gets refusals as plain answers, with a code", async () => {
    await using stage = await Stage.start({ origin: { host: "127.0.0.1", port: 1, protocol: "http1" } });
    const session = connect(stage.url);
    const { status, head, text } = await ask(session, { ":method": "POST" }, "body");
    expect([status, head["evenkeel-error"], text]).toEqual([
      503,
      "EK_FORWARD_UNREACHABLE",
      "EK_FORWARD_UNREACHABLE: no connection to 127.0.0.1:1\n",
    ]);
    await stage.settled();
    session.destroy();
  });

  test("is refused a head over the limit, and its other streams go on", async () => {
    await using upstream = await HttpUpstream.start((_request, response) => response.end("ok"));
    await using stage = await Stage.start({ origin: upstream.origin, limits: { headBytes: 8 * 1024 } });
    const session = connect(stage.url);
    session.on("error", () => undefined);
    expect((await ask(session, {})).text).toBe("ok");
    const stream = session.request({ ":path": "/", "x-large": "y".repeat(12 * 1024) });
    await expect(once(stream, "response")).rejects.toThrow("NGHTTP2_ENHANCE_YOUR_CALM");
    expect((await ask(session, {})).text).toBe("ok");
    session.destroy();
    await stage.settled();
  });

  test("is refused a method that HTTP/1.1 does not know, and given one that it does", async () => {
    await using upstream = await HttpUpstream.start((request, response) => response.end(request.method));
    await using stage = await Stage.start({ origin: upstream.origin });
    const session = connect(stage.url);
    expect((await ask(session, { ":method": "PROPFIND" })).text).toBe("PROPFIND");
    const { status, text } = await ask(session, { ":method": "POS9" });
    expect([status, text]).toEqual([501, "EK_FORWARD_NOT_FORWARDED: an unknown method is not forwarded\n"]);
    await stage.settled();
    session.destroy();
  });

  test("is refused CONNECT and a target without a path", async () => {
    await using stage = await Stage.start({ origin: { host: "127.0.0.1", port: 1, protocol: "http1" } });
    const session = connect(stage.url);
    const stream = session.request({ ":method": "CONNECT", ":authority": "b:443" });
    const [head] = (await once(stream, "response")) as [{ ":status": number }];
    expect(head[":status"]).toBe(501);
    // The parser of HTTP/2 itself refuses this one.
    await expect(ask(session, { ":path": "no-slash" })).rejects.toThrow("NGHTTP2_PROTOCOL_ERROR");
    session.destroy();
  });
});

describe("an answer that cannot be carried", () => {
  async function scene() {
    const upstream = await WireServer.start();
    const stage = await Stage.start({ origin: { host: "127.0.0.1", port: upstream.port, protocol: "http1" } });
    const session = connect(stage.url);
    return {
      upstream,
      stage,
      session,
      async [Symbol.asyncDispose]() {
        session.destroy();
        await stage[Symbol.asyncDispose]();
        await upstream[Symbol.asyncDispose]();
      },
    };
  }

  test.each(["GET", "POST"])("in its trailers costs %s its stream, not the process", async (method) => {
    await using s = await scene();
    const answer = ask(s.session, { ":method": method }, method === "POST" ? "body" : undefined);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\netag: a\r\netag: b\r\n\r\n");
    await expect(answer).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    await s.stage.settled();
  });

  test("in its head costs the stream, and in an interim answer nothing", async () => {
    await using s = await scene();
    const answer = ask(s.session, { ":method": "POST" }, "body");
    const up = await s.upstream.next();
    await up.until("body");
    up.send("HTTP/1.1 103 Early Hints\r\netag: a\r\netag: b\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    expect((await answer).text).toBe("ok");
    const second = ask(s.session, { ":method": "POST" }, "body");
    const again = s.upstream.wires.at(-1);
    again?.clear();
    await again?.until("body");
    again?.send("HTTP/1.1 200 OK\r\netag: a\r\netag: b\r\ncontent-length: 2\r\n\r\nok");
    await expect(second).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    await s.stage.settled();
  });
});

test("an upstream that changes the protocol unasked is answered for with 502", async () => {
  for (const asks of [
    "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx",
  ]) {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({
      origin: { host: "127.0.0.1", port: upstream.port, protocol: "http1" },
      limits: { tries: 1 },
    });
    const client = await Wire.to(stage.port);
    client.send(asks);
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nhello");
    expect(await client.until("EK_FORWARD_")).toMatch(/^HTTP\/1\.1 502 /);
    client.socket.destroy();
    await stage.settled();
  }
});

test("headers of a router that cannot be written cost one connection, and are in the log", async () => {
  await using stage = await Stage.start({
    router: { route: () => ({ refuse: { status: 503, headers: ["x-bad", "a\r\nb: c"] } }) },
  });
  const client = await Wire.to(stage.port);
  client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  expect(await client.end()).toBe("");
  expect(stage.lines.join("")).toContain("a refusal could not be written");
  await stage.settled();
});

describe("an upstream of HTTP/2", () => {
  test("that goes away serves what it has, and new requests get a new session", async () => {
    const { promise: away, resolve: hasGoneAway } = Promise.withResolvers<() => void>();
    await using upstream = await http2Upstream((stream, head) => {
      if (head[":path"] === "/first") {
        stream.session?.goaway(constants.NGHTTP2_NO_ERROR);
        // The forwarder answers the ping after it has read the GOAWAY.
        stream.session?.ping(() =>
          hasGoneAway(() => {
            stream.respond({ ":status": 200 });
            stream.end("first");
          }),
        );
        return;
      }
      stream.respond({ ":status": 200 });
      stream.end("second");
    });
    await using stage = await Stage.start({ origin: upstream.origin });
    const session = connect(stage.url);
    const first = ask(session, { ":path": "/first" });
    const answerFirst = await away;
    expect((await ask(session, { ":path": "/second" })).text).toBe("second");
    answerFirst();
    expect((await first).text).toBe("first");
    expect(upstream.sessions.size).toBe(2);
    session.destroy();
    await stage.settled();
  });

  test("costs its streams an answer when its connection breaks, and the next request connects again", async () => {
    await using upstream = await http2Upstream((stream, head) => {
      if (head[":path"] === "/break") stream.session?.socket.destroy();
      else {
        stream.respond({ ":status": 200 });
        stream.end("ok");
      }
    });
    await using stage = await Stage.start({ origin: upstream.origin, limits: { tries: 1 } });
    const session = connect(stage.url);
    expect((await ask(session, { ":path": "/break" })).status).toBe(502);
    expect((await ask(session, { ":path": "/" })).text).toBe("ok");
    session.destroy();
    await stage.settled();
  });

  test("that speaks HTTP/1.1 instead is answered for with 502 or 503, and soon", async () => {
    await using upstream = await HttpUpstream.start((_request, response) => response.end("ok"));
    await using stage = await Stage.start({ origin: { ...upstream.origin, protocol: "h2c" }, limits: { tries: 1 } });
    const session = connect(stage.url);
    expect([502, 503]).toContain((await ask(session, {})).status);
    session.destroy();
    await stage.settled();
  });
});
