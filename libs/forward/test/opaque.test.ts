import { once } from "node:events";
import { connect as connectHttp2, createSecureServer } from "node:http2";
import { createServer as createHttpsServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import type { Destination, Exchange, Failure, Origin } from "../src/index.ts";
import type { OpaqueConnections } from "../src/sniffer.ts";
import { Authority } from "./parts/authority.ts";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const opaque = (which: OpaqueConnections) => ({ opaque: () => which, httpStart: "GET /probe " });

/** A forwarder that holds every exchange until the test releases it. */
async function holding(which: OpaqueConnections, origin: Origin) {
  const held: { exchange: Exchange; resolve: (destination: Destination) => void }[] = [];
  const failures: Failure[] = [];
  const hold = (exchange: Exchange) => {
    const { promise, resolve } = Promise.withResolvers<Destination>();
    held.push({ exchange, resolve });
    return promise;
  };
  const retry = (exchange: Exchange, failure: Failure) => {
    failures.push(failure);
    return hold(exchange);
  };
  const stage = await Stage.start({ ...opaque(which), router: { route: hold, retry } });
  const until = (count: number) => eventually(() => held[count - 1] ?? false);
  const release = async (count = 1) => (await until(count)).resolve({ origin });
  return { stage, held, failures, until, release, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() };
}

describe("a connection that does not begin as HTTP does is forwarded as it is:", () => {
  test.each([
    ["Redis", "*1\r\n$4\r\nPING\r\n"],
    ["a command of Redis in one line", "PING\r\n"],
    ["a request of PostgreSQL for TLS", "\0\0\0\x08\x04\xd2\x16\x2f"],
    ["MQTT", "\x10\x0c\0\x04MQTT\x04\x02\0\x3c\0\0"],
    ["SSH", "SSH-2.0-client\r\n"],
    ["PROXY protocol, version 1", "PROXY TCP4 10.0.0.1 10.0.0.2 4000 80\r\n"],
    ["PROXY protocol, version 2", "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"],
    ["a method that nobody knows", "FETCH / HTTP/1.1\r\nhost: a\r\n\r\n"],
  ])("%s", async (_name, first) => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ ...opaque("unlessHttp"), origin: upstream.origin });
    const client = await Wire.to(stage.port);
    for (const byte of first) client.send(byte);
    const server = await upstream.next();
    expect(await server.until(first)).toBe(first);
    server.send("answer");
    expect(await client.until("answer")).toBe("answer");
    expect(stage.forwarder.counts()).toMatchObject({ exchanges: 1, tunnels: 1, upstreamSockets: 1 });
    client.socket.end();
    await server.end();
    server.socket.end();
    await stage.settled({ exchanges: 0, tunnels: 0, timers: 0, clientSockets: 0, upstreamSockets: 0 });
  });

  test("HTTPS, with the certificate of the upstream, on the same port as HTTP", async () => {
    using authority = new Authority();
    const server = createHttpsServer(authority.issue(), (_asked, answer) => answer.end("secret")).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    await using plain = await HttpUpstream.start((_asked, answer) => void answer.end("open"));
    const { port } = server.address() as AddressInfo;
    const origin: Origin = { host: "127.0.0.1", port, protocol: "http1" };
    const route = ({ protocol }: Exchange) => ({ origin: protocol === "tcp" ? origin : plain.origin });
    await using stage = await Stage.start({ ...opaque("unlessHttp"), router: { route } });
    const asked = request({ host: "127.0.0.1", port: stage.port, ca: authority.cert, agent: false }).end();
    const [answer] = (await once(asked, "response")) as [AsyncIterable<Buffer>];
    let body = "";
    for await (const part of answer) body += part.toString();
    expect(body).toBe("secret");
    expect(await (await fetch(stage.url)).text()).toBe("open");
    server.close();
    server.closeAllConnections();
  });

  test("HTTP/2 over TLS", async () => {
    using authority = new Authority();
    const server = createSecureServer(authority.issue()).listen(0, "127.0.0.1");
    server.on("stream", (stream) => {
      stream.respond({ ":status": 200 });
      stream.end("over h2");
    });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using stage = await Stage.start({
      ...opaque("unlessHttp"),
      origin: { host: "127.0.0.1", port, protocol: "http1" },
    });
    const session = connectHttp2(`https://127.0.0.1:${stage.port}`, { ca: authority.cert });
    const stream = session.request({ ":path": "/" });
    let body = "";
    for await (const part of stream as AsyncIterable<Buffer>) body += part.toString();
    expect(body).toBe("over h2");
    session.close();
    server.close();
    await stage.settled();
  });
});

test.each(["\r\n", "\n", "\r\n\r\n"])("a request after empty lines (%j) is HTTP", async (lines) => {
  await using stage = await Stage.start({
    ...opaque("unlessHttp"),
    router: { route: () => ({ refuse: { status: 204 } }) },
  });
  const client = await Wire.to(stage.port);
  for (const byte of `${lines}GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`) client.send(byte);
  expect(await client.end()).toContain("204 No Content");
});

test("where all connections are opaque, a server may speak first, and HTTP is not parsed", async () => {
  await using upstream = await WireServer.start();
  await using stage = await Stage.start({ ...opaque("all"), origin: upstream.origin });
  const silent = await Wire.to(stage.port);
  (await upstream.next()).send("220 ready\r\n");
  expect(await silent.until("ready")).toBe("220 ready\r\n");
  const spoken = await Wire.to(stage.port);
  spoken.send("GET / HTTP/1.1\r\n\r\n");
  const server = await upstream.next();
  // Without a host, which a parser would refuse.
  expect(await server.until("\r\n\r\n")).toBe("GET / HTTP/1.1\r\n\r\n");
  silent.socket.destroy();
  spoken.socket.destroy();
  await stage.settled();
});

test("where all connections are opaque, one that begins as the owner says is HTTP", async () => {
  const seen: string[] = [];
  await using stage = await Stage.start({
    ...opaque("all"),
    router: { route: ({ protocol, path }) => (seen.push(`${protocol} ${path}`), { refuse: { status: 204 } }) },
  });
  const client = await Wire.to(stage.port);
  client.send("GET /probe HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  expect(await client.end()).toContain("204 No Content");
  expect(seen).toEqual(["http/1.1 /probe"]);
});

test.each(["all", "unlessHttp"] as const)(
  "a client that connects to test a port, and sends nothing, is not routed (%s)",
  async (which) => {
    await using scene = await holding(which, { host: "127.0.0.1", port: 1, protocol: "http1" });
    const { stage, held } = scene;
    const client = await Wire.to(stage.port);
    client.socket.destroy();
    await stage.settled({ clientSockets: 0, timers: 0, exchanges: 0 });
    expect(held).toEqual([]);
  },
);

describe("a held connection", () => {
  test("keeps what its client sends meanwhile, in order, and forwards the end of one direction", async () => {
    await using upstream = await WireServer.start({}, { allowHalfOpen: true });
    await using scene = await holding("unlessHttp", upstream.origin);
    const { stage, release, until } = scene;
    const client = await Wire.to(stage.port, { allowHalfOpen: true });
    client.send("*one ");
    expect((await until(1)).exchange).toMatchObject({ protocol: "tcp", method: "TCP", left: false });
    client.send("two ");
    await release();
    const server = await upstream.next();
    client.send("three");
    expect(await server.until("three")).toBe("*one two three");
    client.socket.end();
    expect(await server.end()).toBe("*one two three");
    server.send("still here");
    server.socket.end();
    expect(await client.end()).toBe("still here");
    await stage.settled({ exchanges: 0, tunnels: 0, clientSockets: 0, upstreamSockets: 0, timers: 0 });
  });

  test.each([
    ["ends", (client: Wire) => client.socket.end()],
    ["is reset", (client: Wire) => client.reset()],
  ])("that %s is reported, and does not reach the upstream", async (_name, leave) => {
    await using upstream = await WireServer.start();
    await using scene = await holding("unlessHttp", upstream.origin);
    const { stage, held, until, release } = scene;
    const client = await Wire.to(stage.port);
    client.send("*1\r\n");
    const { exchange } = await until(1);
    const left = new Promise<void>((resolve) => (exchange.whenLeft = { left: resolve }));
    leave(client);
    await left;
    expect(exchange.left).toBe(true);
    await release();
    await stage.settled({ exchanges: 0, clientSockets: 0, upstreamSockets: 0 });
    expect([held.length, upstream.wires.length]).toEqual([1, 0]);
  });

  test("returns to the router when its upstream refuses, and nothing of it is lost", async () => {
    const gone = await WireServer.start();
    const refusing = gone.origin;
    await gone[Symbol.asyncDispose]();
    await using upstream = await WireServer.start();
    await using scene = await holding("unlessHttp", upstream.origin);
    const { stage, failures, until } = scene;
    const client = await Wire.to(stage.port);
    client.send("*1\r\n");
    const settled: string[] = [];
    (await until(1)).resolve({ origin: refusing, settled: ({ end }) => void settled.push(end) });
    (await until(2)).resolve({ origin: upstream.origin });
    expect(await (await upstream.next()).until("*1")).toBe("*1\r\n");
    expect(failures).toMatchObject([{ kind: "connect", repeatable: true, tries: 1, error: { code: "ECONNREFUSED" } }]);
    expect(settled).toEqual(["broken"]);
    client.socket.destroy();
    await stage.settled();
  });

  test("that is refused is reset", async () => {
    await using scene = await holding("unlessHttp", { host: "127.0.0.1", port: 1, protocol: "http1" });
    const { stage, until } = scene;
    const client = await Wire.to(stage.port);
    client.send("*1\r\n");
    (await until(1)).resolve({ refuse: { status: 503, body: "words" } });
    expect(await client.end()).toBe("");
    expect(client.failed).toMatchObject({ code: "ECONNRESET" });
    await stage.settled();
  });

  test("is finished by a drain, and cut at its deadline", async () => {
    await using upstream = await WireServer.start();
    await using scene = await holding("unlessHttp", upstream.origin);
    const { stage, release, until } = scene;
    const client = await Wire.to(stage.port);
    const other = await Wire.to(stage.port);
    client.send("*1\r\n");
    await until(1);
    other.send("*2\r\n");
    await until(2);
    const deadline = new AbortController();
    const drained = stage.forwarder.drain(deadline.signal);
    await release(1);
    const server = await upstream.next();
    server.send("answer");
    expect(await client.until("answer")).toBe("answer");
    server.socket.end();
    client.socket.end();
    await stage.settled({ exchanges: 1, tunnels: 0 });
    deadline.abort();
    expect(await drained).toBe(1);
    await other.end();
  });
});
