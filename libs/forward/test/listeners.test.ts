import { once } from "node:events";
import { connect as connectHttp2, constants, type IncomingHttpHeaders } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Authority, type Pair } from "./parts/authority.ts";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const patience = () => AbortSignal.timeout(5_000);

/** One request of HTTP/2, its whole answer as text. */
async function get(url: string, path: string, options: { ca?: string } = {}): Promise<[number, string]> {
  const session = connectHttp2(url, options);
  const stream = session.request({ ":path": path });
  const [head] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status": number }];
  let text = "";
  for await (const data of stream) text += String(data);
  session.close();
  return [head[":status"], text];
}

describe("several listeners of one forwarder", () => {
  test("come and go while it runs, each with its name and its router", async () => {
    await using upstream = await HttpUpstream.start((request, response) => response.end(request.headers["x-listener"]));
    const { origin } = upstream;
    const router = {
      route: ({ listener }: { readonly listener: string }) => ({ origin, headers: ["x-listener", listener] }),
    };
    await using stage = await Stage.start({ router });
    const other = await stage.forwarder.listen({ name: "payments", host: "127.0.0.1", port: 0 });
    const third = await stage.forwarder.listen(
      { name: "third", host: "127.0.0.1", port: 0 },
      { route: () => ({ refuse: { status: 404, body: "its own" } }) },
    );
    const text = async (port: number) => {
      const client = await Wire.to(port);
      client.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
      return (await client.end()).split("\r\n\r\n")[1];
    };
    expect([await text(stage.port), await text(other.port), await text(third.port)]).toEqual([
      "main",
      "payments",
      "its own",
    ]);
    const { port } = other;
    expect(await stage.forwarder.unlisten(other, patience())).toBe(0);
    await expect(Wire.to(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(await text(stage.port)).toBe("main");
  });

  test("have as many connections of clients together as one forwarder may, and close those beyond", async () => {
    const router = { route: () => ({ refuse: { status: 404, body: "here" } }) };
    await using stage = await Stage.start({ router, limits: { connections: 3 } });
    const other = await stage.forwarder.listen({ name: "payments", host: "127.0.0.1", port: 0 });
    const kept = [await Wire.to(stage.port), await Wire.to(other.port), await Wire.to(other.port)];
    await stage.settled({ clientSockets: 3 });
    for (const port of [stage.port, other.port]) expect(await (await Wire.to(port)).end()).toBe("");
    expect(stage.forwarder.counts().clientSockets).toBe(3);
    for (const client of kept) await client.send(GET).until("here");
    kept[2]?.socket.destroy();
    await stage.settled({ clientSockets: 2 });
    await (await Wire.to(stage.port)).send(GET).until("here");
  });

  test("name the listener that cannot listen, and its address", async () => {
    await using stage = await Stage.start({});
    await expect(
      stage.forwarder.listen({ name: "second", host: "127.0.0.1", port: stage.port, flag: "port-two" }),
    ).rejects.toMatchObject({
      code: "EK_FORWARD_CANNOT_LISTEN",
      message: expect.stringContaining("--port-two"),
    });
  });
});

describe("a drain", () => {
  test("lets what is in flight end, closes what is idle, and refuses new connections", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: { host: "127.0.0.1", port: upstream.port, protocol: "http1" } });
    const idle = await Wire.to(stage.port);
    const silent = await Wire.to(stage.port);
    const busy = await Wire.to(stage.port);
    idle.send("GET /idle HTTP/1.1\r\nhost: a\r\n\r\n");
    const first = await upstream.next();
    await first.until("\r\n\r\n");
    first.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    await idle.until("ok");
    busy.send("POST /busy HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbo");
    const up = await upstream.next();
    await up.until("bo");
    const drained = stage.forwarder.drain(patience());
    await Promise.all([idle.end(), silent.end()]);
    await expect(Wire.to(stage.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    busy.send("dy");
    await up.until("body");
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone");
    expect(await busy.end()).toMatch(/connection: close[^]*done$/i);
    expect(await drained).toBe(0);
    expect(stage.forwarder.counts()).toMatchObject({ exchanges: 0, clientSockets: 0, timers: 0 });
  });

  test("tells clients of HTTP/2 to go away and lets their streams end", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: { host: "127.0.0.1", port: upstream.port, protocol: "http1" } });
    const session = connectHttp2(stage.url);
    const stream = session.request({ ":path": "/" });
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    const away = once(session, "goaway");
    const drained = stage.forwarder.drain(patience());
    expect((await away)[0]).toBe(constants.NGHTTP2_NO_ERROR);
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    let text = "";
    for await (const data of stream) text += String(data);
    expect([text, await drained]).toEqual(["ok", 0]);
  });

  test("cuts what is left at its deadline and says how many those were", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: { host: "127.0.0.1", port: upstream.port, protocol: "http1" } });
    const clients = await Promise.all([GET, GET].map(async (bytes) => (await Wire.to(stage.port)).send(bytes)));
    const session = connectHttp2(stage.url);
    session.on("error", () => undefined);
    const stream = session.request({ ":path": "/" });
    stream.on("error", () => undefined);
    for (let index = 0; index < 3; index++) await (await upstream.next()).until("\r\n\r\n");
    expect(await stage.forwarder.drain(AbortSignal.timeout(100))).toBe(3);
    for (const client of clients) await client.end();
    await stage.forwarder.stop(AbortSignal.abort());
    await stage.settled({ exchanges: 0, clientSockets: 0, upstreamSockets: 0, timers: 0, origins: 0 });
  });
});

describe("HTTP/2", () => {
  test("shares a port with HTTP/1.1, also when its first bytes come one by one", async () => {
    await using upstream = await HttpUpstream.start((request, response) => response.end(`${request.url}`));
    await using stage = await Stage.start({ origin: upstream.origin });
    expect(await get(stage.url, "/by-h2c")).toEqual([200, "/by-h2c"]);
    const slow = await Wire.to(stage.port);
    for (const byte of "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
      slow.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    slow.send("\x00\x00\x00\x04\x00\x00\x00\x00\x00");
    // The settings of the other side: a frame of type 4 on stream 0.
    await slow.until("\x04\x00\x00\x00\x00\x00");
    expect(slow.received.indexOf("\x04\x00\x00\x00\x00\x00")).toBe(3);
    slow.socket.destroy();
    const put = await Wire.to(stage.port);
    put.send("P");
    await new Promise((resolve) => setImmediate(resolve));
    put.send("UT /by-http1 HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
    await put.until("/by-http1");
    put.socket.destroy();
  });

  test("joins the crumbs of a cookie, keeps several values apart, and sends no Host twice", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: { host: "127.0.0.1", port: upstream.port, protocol: "http1" } });
    const session = connectHttp2(stage.url);
    const stream = session.request({
      ":path": "/",
      ":authority": "shop.example",
      cookie: ["a=1", "b=2"],
      "x-two": ["1", "2"],
    });
    const up = await upstream.next();
    const asked = await up.until("\r\n\r\n");
    expect(asked).toContain("\r\ncookie: a=1; b=2\r\n");
    expect(asked.match(/\r\n[\w-]*host: .*/g)).toEqual([
      "\r\nhost: shop.example",
      "\r\nx-forwarded-host: shop.example",
    ]);
    expect(asked).toContain("via: 2.0 evenkeel\r\n");
    up.send("HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    const [head] = (await once(stream, "response")) as [IncomingHttpHeaders];
    expect([head["set-cookie"], head["connection"]]).toEqual([["a=1", "b=2"], undefined]);
    session.destroy();
  });

  test("carries trailers both ways, and interim answers, between HTTP/2 and HTTP/1.1", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: { host: "127.0.0.1", port: upstream.port, protocol: "http1" } });
    const session = connectHttp2(stage.url);
    const stream = session.request({ ":path": "/", ":method": "POST" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-up": "1" }));
    const hints = once(stream, "headers");
    const trailers = once(stream, "trailers");
    stream.end("abc");
    const up = await upstream.next();
    await up.until("3\r\nabc\r\n0\r\nx-up: 1\r\n\r\n");
    up.send("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
    expect((await hints)[0]).toMatchObject({ ":status": 103, link: "</a>" });
    up.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-down: 2\r\n\r\n");
    let text = "";
    for await (const data of stream) text += String(data);
    expect([text, (await trailers)[0]]).toMatchObject(["ok", { "x-down": "2" }]);
    session.destroy();
  });

  test("is told to go away when the router asks for it", async () => {
    await using upstream = await HttpUpstream.start((_request, response) => response.end("ok"));
    const { origin } = upstream;
    await using stage = await Stage.start({
      router: {
        route: (exchange) => {
          exchange.closeAfter();
          return { origin };
        },
      },
    });
    const session = connectHttp2(stage.url);
    const closed = once(session, "close");
    const stream = session.request({ ":path": "/" });
    let text = "";
    for await (const data of stream) text += String(data);
    await closed;
    expect(text).toBe("ok");
  });
});

describe("a listener with a certificate", () => {
  let authority: Authority;
  let pair: Pair;
  let upstream: HttpUpstream;

  beforeAll(async () => {
    authority = new Authority();
    pair = authority.issue();
    upstream = await HttpUpstream.start((request, response) => {
      response.end(`${request.url} ${String(request.headers["x-forwarded-proto"])}`);
    });
  });
  afterAll(async () => {
    authority[Symbol.dispose]();
    await upstream[Symbol.asyncDispose]();
  });

  test("speaks HTTP/2 and HTTP/1.1 over TLS, and nothing in plain text", async () => {
    await using stage = await Stage.start({ origin: upstream.origin, tls: { cert: pair.cert, key: pair.key } });
    const url = `https://localhost:${stage.port}`;
    expect(await get(url, "/h2", { ca: authority.cert })).toEqual([200, "/h2 https"]);
    const [response] = (await once(
      httpsRequest(`${url}/h1`, { ca: authority.cert, agent: false }).end(),
      "response",
    )) as [AsyncIterable<Buffer>];
    let text = "";
    for await (const data of response) text += String(data);
    expect(text).toBe("/h1 https");
    const plain = await Wire.to(stage.port);
    plain.send(GET);
    expect(await plain.end()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("also speaks plain text if it is told to, and takes a new certificate while it runs", async () => {
    await using stage = await Stage.start({ router: { route: () => ({ origin: upstream.origin }) } });
    const tls = { cert: pair.cert, key: pair.key, plaintext: true };
    const listener = await stage.forwarder.listen({ name: "both", host: "127.0.0.1", port: 0, tls });
    expect(await get(`http://127.0.0.1:${listener.port}`, "/plain")).toEqual([200, "/plain http"]);
    expect(await get(`https://localhost:${listener.port}`, "/tls", { ca: authority.cert })).toEqual([
      200,
      "/tls https",
    ]);
    const serial = async () => {
      const socket = connectTls({ port: listener.port, host: "localhost", ca: authority.cert });
      await once(socket, "secureConnect");
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };
    const before = await serial();
    const renewed = authority.issue();
    listener.renew({ cert: renewed.cert, key: renewed.key });
    expect(await serial()).not.toBe(before);
    await stage.forwarder.unlisten(listener, AbortSignal.abort());
  });
});
