import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import type { Exchange, Origin, Outcome } from "../src/index.ts";
import { Authority } from "./parts/authority.ts";
import {
  ACK,
  DATA,
  END_STREAM,
  type Field,
  frame,
  framesIn,
  GOAWAY,
  HEADERS,
  headersFrame,
  numbers,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from "./parts/http2-frames.ts";
import { HttpUpstream, Stage, type StageOptions } from "./parts/stage.ts";
import { standstill } from "./parts/standstill.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const NO_ERROR = 0;
const INTERNAL_ERROR = 2;
const CANCEL = 8;

const nothing = { exchanges: 0, tunnels: 0, timers: 0, clientSockets: 0 };

const asks = (method: string, path = "/"): Field[] => [
  [":method", method],
  [":scheme", "http"],
  [":authority", "a.test"],
  [":path", path],
];
const settings = frame(SETTINGS, 0, 0, Buffer.alloc(0));
const greeting = Buffer.concat([PREFACE, settings]);
const head = Buffer.concat([greeting, headersFrame(1, END_STREAM, asks("HEAD"))]);
const get = Buffer.concat([greeting, headersFrame(1, END_STREAM, asks("GET"))]);
const post = Buffer.concat([
  greeting,
  headersFrame(1, 0, asks("POST")),
  frame(DATA, 0, 1, Buffer.from("the first bytes")),
]);
const reset = (stream: number, code: number) => frame(RST_STREAM, 0, stream, numbers(code));

function say(wire: Wire, ...frames: readonly Buffer[]): void {
  wire.send(Buffer.concat(frames).toString("latin1"));
}

const framesOf = ({ received }: Wire) => [...framesIn(Buffer.from(received, "latin1"))];
const has = (wire: Wire, wanted: number) => framesOf(wire).some(({ type }) => type === wanted);

/** A forwarder before an upstream of HTTP/1.1 that a test plays by hand; `held` requests wait for ever. */
async function scene({ held = false, ...options }: StageOptions & { readonly held?: boolean } = {}) {
  const upstream = await WireServer.start();
  const origin: Origin = { host: "127.0.0.1", port: upstream.port, protocol: "http1" };
  const routed: Exchange[] = [];
  const outcomes: Outcome[] = [];
  const forward = { origin, settled: (outcome: Outcome) => void outcomes.push(outcome) };
  const stage = await Stage.start({
    router: {
      route: (exchange) => {
        routed.push(exchange);
        return held ? new Promise(() => undefined) : forward;
      },
    },
    limits: { tries: 1 },
    ...options,
  });
  return {
    upstream,
    stage,
    routed,
    outcomes,
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

type Scene = Awaited<ReturnType<typeof scene>>;

/** Ways in which a client's connection can end with a stream unfinished. */
const ways: readonly (readonly [string, (wire: Wire) => void])[] = [
  ["closes", ({ socket }) => socket.destroy()],
  ["resets", ({ socket }) => socket.resetAndDestroy()],
  ["ends its side of", ({ socket }) => socket.end()],
  [
    "breaks off inside a frame and closes",
    ({ socket }) => socket.write(frame(DATA, 0, 1, Buffer.alloc(1000)).subarray(0, 500), () => socket.destroy()),
  ],
  ["sends what is no HTTP/2 on", (wire) => say(wire, frame(SETTINGS, 0, 0, Buffer.alloc(5)))],
  ["breaks the compression of", (wire) => say(wire, frame(1, END_STREAM | 4, 3, Buffer.of(0xff, 0xff, 0xff, 0xff)))],
  ["gives up", (wire) => say(wire, frame(GOAWAY, 0, 0, numbers(0, INTERNAL_ERROR)))],
];

describe.each(ways)("a client of HTTP/2 that %s its connection", (_way, leave) => {
  test.each([
    ["before the answer", get, "\r\n\r\n", undefined],
    ["inside its request", post, "the first bytes", undefined],
    ["inside the answer", get, "\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello"],
    ["inside both", post, "the first bytes", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"],
  ])("%s has left, and the upstream's connection ends", async (_place, request, read, answer) => {
    await using s = await scene();
    const client = await Wire.to(s.stage.port);
    say(client, request);
    const up = await s.upstream.next();
    await up.until(read);
    if (answer !== undefined) {
      up.send(answer);
      await client.until("hello");
    }
    leave(client);
    await up.end();
    await s.stage.settled(nothing);
    expect(s.outcomes).toEqual([{ status: answer === undefined ? 0 : 200, end: "left" }]);
    client.socket.destroy();
  });

  test.each([
    ["without a body", get],
    ["with its body unread", post],
  ])("while its request %s is held, is not waited for", async (_what, request) => {
    await using s = await scene({ held: true });
    const client = await Wire.to(s.stage.port);
    say(client, request);
    await eventually(() => s.routed.length === 1);
    const exchange = s.routed[0] as Exchange;
    let told = 0;
    exchange.whenLeft = { left: () => (told += 1) };
    leave(client);
    await s.stage.settled(nothing);
    expect({ left: exchange.left, told }).toEqual({ left: true, told: 1 });
    client.socket.destroy();
  });
});

describe("over TLS, a client of HTTP/2", () => {
  let authority: Authority;
  beforeAll(() => {
    authority = new Authority();
  });
  afterAll(() => authority[Symbol.dispose]());

  test.each(ways.filter(([way]) => way !== "resets"))(
    "that %s its connection while its request is held is not waited for",
    async (_way, leave) => {
      await using s = await scene({ held: true, tls: { ...authority.issue() } });
      const socket = connectTls({
        port: s.stage.port,
        host: "127.0.0.1",
        servername: "localhost",
        ca: authority.cert,
        ALPNProtocols: ["h2"],
      });
      await once(socket, "secureConnect");
      const client = new Wire(socket);
      say(client, post);
      await eventually(() => s.routed.length === 1);
      leave(client);
      await s.stage.settled(nothing);
      client.socket.destroy();
    },
  );
});

describe("a client of HTTP/2 that resets its stream", () => {
  /** A body of which the upstream takes what fits into its buffers, so that the rest waits here. */
  async function stalled(s: Scene): Promise<{ client: Wire; up: Wire }> {
    const client = await Wire.to(s.stage.port);
    say(client, greeting, headersFrame(1, 0, asks("POST")));
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.socket.pause();
    const part = frame(DATA, 0, 1, Buffer.alloc(16_384));
    // The forwarder opens the window as it reads; a client that may send no more has sent all that it can.
    const allowed = () => windowOf(client) - sent;
    let sent = 0;
    for (let quiet = 0; quiet < 20; quiet++) {
      for (; allowed() >= 16_384; sent += 16_384, quiet = 0) say(client, part);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return { client, up };
  }

  test.each([
    ["without an error", NO_ERROR],
    ["to cancel it", CANCEL],
  ])("%s while its upstream reads nothing has left", async (_how, code) => {
    await using s = await scene();
    const { client, up } = await stalled(s);
    expect(s.stage.forwarder.counts().exchanges).toBe(1);
    say(client, reset(1, code));
    await s.stage.settled();
    expect(s.outcomes).toEqual([{ status: 0, end: "left" }]);
    up.socket.resume();
    await up.end();
    client.socket.destroy();
  });

  test.each([
    ["POST", "without an error", post, NO_ERROR],
    ["POST", "to cancel it", post, CANCEL],
    ["GET", "without an error", get, NO_ERROR],
    ["GET", "to cancel it", get, CANCEL],
    ["HEAD", "without an error", head, NO_ERROR],
    ["HEAD", "to cancel it", head, CANCEL],
  ])("of a %s %s while it is held is not waited for", async (_method, _how, request, code) => {
    await using s = await scene({ held: true });
    const client = await Wire.to(s.stage.port);
    say(client, request);
    await eventually(() => s.routed.length === 1);
    say(client, reset(1, code));
    await s.stage.settled();
    client.socket.destroy();
  });

  test.each([
    ["GET", get],
    ["HEAD", head],
  ])("of a %s without an error before its answer ends the upstream's connection", async (_method, request) => {
    await using s = await scene();
    const client = await Wire.to(s.stage.port);
    say(client, request);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    say(client, reset(1, NO_ERROR));
    await up.end();
    await s.stage.settled();
    client.socket.destroy();
  });

  test("10,000 times as soon as it is opened leaves nothing behind, and others are served", async () => {
    await using upstream = await HttpUpstream.start((_request, response) => response.end("ok"));
    await using stage = await Stage.start({ origin: upstream.origin });
    const client = await Wire.to(stage.port);
    client.socket.on("error", () => undefined);
    say(client, greeting);
    for (let stream = 1; stream < 20_000 && !client.closed; stream += 2) {
      say(client, headersFrame(stream, END_STREAM, asks("GET")), reset(stream, CANCEL));
      if (stream % 1000 === 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await stage.settled();
    const other = await Wire.to(stage.port);
    other.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    expect(await other.end()).toMatch(/^HTTP\/1\.1 200 /);
    client.socket.destroy();
    await stage.settled(nothing);
  });

  test("when it is answered early, with its body half read, leaves nothing of it here", async () => {
    await using s = await scene();
    const { client, up } = await stalled(s);
    up.send("HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\n\r\nno");
    await client.until("no");
    await s.stage.settled();
    expect(s.outcomes).toEqual([{ status: 413, end: "answered" }]);
    client.socket.destroy();
  });

  test.each([
    ["GET", END_STREAM, ""],
    ["POST", 0, "body"],
  ])(
    "of a %s without an error, with an answer that it did not read, leaves nothing behind",
    async (method, flags, body) => {
      await using s = await scene();
      const client = await Wire.to(s.stage.port);
      // A window of nothing: not one byte of an answer's body may be sent.
      say(
        client,
        PREFACE,
        frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
        headersFrame(1, flags, asks(method)),
      );
      if (body !== "") say(client, frame(DATA, 0, 1, Buffer.from(body)));
      const up = await s.upstream.next();
      await up.until(body === "" ? "\r\n\r\n" : body);
      up.send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
      await eventually(() => has(client, HEADERS));
      say(client, reset(1, NO_ERROR));
      await s.stage.settled();
      client.socket.destroy();
    },
  );
});

/** How many bytes the forwarder has allowed a client to send on stream 1: what each begins with, and what it added. */
function windowOf(client: Wire): number {
  let connection = 65_535;
  let stream = 65_535;
  for (const { type, stream: id, payload } of framesOf(client)) {
    if (type !== WINDOW_UPDATE) continue;
    if (id === 0) connection += payload.readUInt32BE();
    else stream += payload.readUInt32BE();
  }
  return Math.min(connection, stream);
}

test.each([
  ["closes", ({ socket }: Wire) => socket.destroy()],
  ["resets", ({ socket }: Wire) => socket.resetAndDestroy()],
])("a client of HTTP/2 that reads nothing of a large answer and %s its connection has left", async (_way, leave) => {
  await using s = await scene();
  const client = await Wire.to(s.stage.port);
  // Windows so wide that the connection itself is what holds the answer up.
  const wide = frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]));
  const wider = frame(WINDOW_UPDATE, 0, 0, numbers(0x7fff0000));
  say(client, PREFACE, wide, wider, headersFrame(1, END_STREAM, asks("GET")));
  const up = await s.upstream.next();
  await up.until("\r\n\r\n");
  client.socket.pause();
  const size = 64 * 1024 * 1024;
  up.send(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
  up.socket.write(Buffer.alloc(size));
  expect(await standstill(() => up.socket.writableLength)).toBeGreaterThan(0);
  leave(client);
  await up.end();
  await s.stage.settled(nothing);
  expect(s.outcomes).toEqual([{ status: 200, end: "left" }]);
});

test("a client of HTTP/2 that says goodbye gets the answers that it waits for, and then its connection ends", async () => {
  await using s = await scene();
  const client = await Wire.to(s.stage.port);
  say(client, get);
  const up = await s.upstream.next();
  await up.until("\r\n\r\n");
  say(client, frame(GOAWAY, 0, 0, numbers(0, NO_ERROR)));
  up.send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n");
  up.send("hello");
  expect(await client.end()).toContain("hello");
  await s.stage.settled(nothing);
  expect(s.outcomes).toEqual([{ status: 200, end: "answered" }]);
});

describe("an upstream of HTTP/2", () => {
  async function before(options: StageOptions = {}) {
    const upstream = await WireServer.start();
    const stage = await Stage.start({
      origin: { host: "127.0.0.1", port: upstream.port, protocol: "h2c" },
      limits: { tries: 2 },
      ...options,
    });
    const client = await Wire.to(stage.port);
    return {
      upstream,
      stage,
      client,
      async [Symbol.asyncDispose]() {
        client.socket.destroy();
        await stage[Symbol.asyncDispose]();
        await upstream[Symbol.asyncDispose]();
      },
    };
  }

  /** An upstream's end of a new session, with its first request read. */
  async function asked(upstream: WireServer): Promise<Wire> {
    const up = await upstream.next();
    await up.until("SM\r\n\r\n");
    say(up, settings, frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
    await eventually(() => has(up, HEADERS));
    return up;
  }

  const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
  const ok = (length: number) => headersFrame(1, 0, [[":status", "200"], ["content-length", String(length)]]); // prettier-ignore

  test("that goes away before it took a stream is asked again on a new session", async () => {
    await using s = await before();
    s.client.send(GET);
    const first = await asked(s.upstream);
    say(first, frame(GOAWAY, 0, 0, numbers(0, NO_ERROR)));
    const second = await asked(s.upstream);
    say(second, ok(5), frame(DATA, END_STREAM, 1, Buffer.from("hello")));
    await s.client.until("\r\n\r\nhello");
    await s.stage.settled();
    await first.end();
  });

  test("that goes away with an error in the middle of an answer costs the client its connection", async () => {
    await using s = await before();
    s.client.send(GET);
    const up = await asked(s.upstream);
    say(up, ok(10), frame(DATA, 0, 1, Buffer.from("hello")));
    await s.client.until("hello");
    say(up, frame(GOAWAY, 0, 0, numbers(1, INTERNAL_ERROR)));
    await s.client.end();
    await s.stage.settled(nothing);
  });

  test.each([
    ["without an error", NO_ERROR],
    ["to cancel it", CANCEL],
  ])("that resets the stream %s before it answers is answered for with 502", async (_how, code) => {
    await using s = await before({ limits: { tries: 1 } });
    s.client.send(GET);
    say(await asked(s.upstream), reset(1, code));
    expect(await s.client.until("EK_FORWARD_BROKEN")).toMatch(/^HTTP\/1\.1 502 /);
    await s.stage.settled();
  });

  test.each([
    ["without an error", NO_ERROR],
    ["to cancel it", CANCEL],
  ])("that resets the stream %s inside an answer costs the client its connection", async (_how, code) => {
    await using s = await before();
    s.client.send(GET);
    const up = await asked(s.upstream);
    say(up, headersFrame(1, 0, [[":status", "200"]]), frame(DATA, 0, 1, Buffer.from("hello")));
    await s.client.until("hello");
    say(up, reset(1, code));
    expect(await s.client.end()).not.toMatch(/\r\n0\r\n/);
    await s.stage.settled(nothing);
  });

  test("that never says its settings is answered for with 503 after the deadline, and leaves nothing behind", async () => {
    await using s = await before({ deadlines: { connect: 200 }, limits: { tries: 1, upstreamIdle: 500 } });
    s.client.send(GET);
    const up = await s.upstream.next();
    expect(await s.client.until("EK_FORWARD_UNREACHABLE")).toMatch(/^HTTP\/1\.1 503 /);
    await s.stage.settled();
    await up.end();
    await s.stage.settled({ upstreamSockets: 0, origins: 0 });
  });

  test("that is sent nothing because its window is closed is given up when its client leaves", async () => {
    await using s = await before();
    s.client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n");
    const up = await s.upstream.next();
    await up.until("SM\r\n\r\n");
    say(up, frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])), frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
    await eventually(() => has(up, HEADERS));
    s.client.send("hello");
    s.client.socket.destroy();
    await eventually(() => has(up, RST_STREAM));
    await s.stage.settled(nothing);
  });
});
