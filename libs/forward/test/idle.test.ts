import { describe, expect, test } from "@jest/globals";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import type { Outcome } from "../src/index.ts";
import { DATA, END_STREAM, frame, framesIn, HEADERS, headersFrame, PREFACE, SETTINGS } from "./parts/http2-frames.ts";
import { Stage } from "./parts/stage.ts";
import { standstill } from "./parts/standstill.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** A forwarder that lets nothing stand still for more than a second, and no other deadline. */
async function scene() {
  const upstream = await WireServer.start();
  const clock = new FakeClock();
  const outcomes: Outcome[] = [];
  const origin = { host: "127.0.0.1", port: upstream.port, protocol: "http1" } as const;
  const stage = await Stage.start({
    clock,
    router: { route: () => ({ origin, settled: (outcome) => void outcomes.push(outcome) }) },
    deadlines: { connect: 0, response: 0, total: 0, expect: 0, idle: 1_000 },
  });
  const client = await Wire.to(stage.port);
  return {
    upstream,
    clock,
    outcomes,
    stage,
    client,
    async [Symbol.asyncDispose]() {
      client.socket.destroy();
      await stage[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

type Scene = Awaited<ReturnType<typeof scene>>;

async function asked(s: Scene, request: string, read = "\r\n\r\n"): Promise<Wire> {
  s.client.send(request);
  const up = await s.upstream.next();
  await up.until(read);
  return up;
}

describe("an exchange that stands still for longer than its idle deadline", () => {
  test("inside an answer, for want of the upstream, costs the client its connection; each byte gives it new time", async () => {
    await using s = await scene();
    const up = await asked(s, GET);
    up.send(`${CHUNKED}5\r\nhello\r\n`);
    await s.client.until("hello");
    await s.clock.advance(900);
    up.send("5\r\nworld\r\n");
    await s.client.until("world");
    await s.clock.advance(900);
    expect(s.client.closed).toBe(false);
    await s.clock.advance(200);
    expect(await s.client.end()).not.toMatch(/\r\n0\r\n/);
    await up.end();
    await s.stage.settled();
    expect(s.outcomes).toEqual([{ status: 200, end: "broken" }]);
  });

  test("after the head of an answer alone, ends too", async () => {
    await using s = await scene();
    const up = await asked(s, GET);
    up.send(CHUNKED);
    await s.client.until("\r\n\r\n");
    await s.clock.advance(1_100);
    await s.client.end();
    await up.end();
    await s.stage.settled();
  });

  test("since the client does not read counts as left", async () => {
    await using s = await scene();
    const up = await asked(s, GET);
    s.client.socket.pause();
    const size = 64 * 1024 * 1024;
    up.send(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
    up.socket.write(Buffer.alloc(size));
    await standstill(() => up.socket.writableLength);
    // A busy machine may move a few more bytes, which give it new time.
    await eventually(async () => {
      await s.clock.advance(1_100);
      return up.ended || up.closed;
    });
    await s.stage.settled();
    expect(s.outcomes).toEqual([{ status: 200, end: "left" }]);
  });

  test("inside a request is answered with 504, and the upstream is free", async () => {
    await using s = await scene();
    const up = await asked(s, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhello", "hello");
    await s.clock.advance(900);
    expect(s.client.received).toBe("");
    await s.clock.advance(200);
    expect(await s.client.until("EK_FORWARD_TOO_SLOW: ")).toMatch(/^HTTP\/1\.1 504 /);
    await up.end();
    await s.stage.settled({ exchanges: 0 });
  });

  test("with its whole answer written and the client's window closed counts as left", async () => {
    await using s = await scene();
    const closed = frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
    const head = headersFrame(1, END_STREAM, [[":method", "GET"], [":scheme", "http"], [":authority", "a"], [":path", "/"]]); // prettier-ignore
    const up = await asked(s, Buffer.concat([PREFACE, closed, head]).toString("latin1"));
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
    const frames = () => [...framesIn(Buffer.from(s.client.received, "latin1"))].map(({ type }) => type);
    await eventually(() => frames().includes(HEADERS));
    await s.clock.advance(1_100);
    await s.stage.settled();
    expect(s.outcomes).toEqual([{ status: 200, end: "left" }]);
    expect(frames()).not.toContain(DATA);
  });
});

describe("an exchange is not cut by the idle deadline", () => {
  test("while its upstream thinks: the deadline of the response is for that", async () => {
    await using s = await scene();
    const up = await asked(s, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello", "hello");
    await s.clock.advance(60_000);
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    expect(await s.client.until("ok")).toMatch(/^HTTP\/1\.1 200 /);
    await s.stage.settled();
  });

  test("in a tunnel", async () => {
    await using s = await scene();
    const up = await asked(s, "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    up.send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    await s.client.until("101 ");
    await s.clock.advance(60_000);
    up.send("still there");
    await s.client.until("still there");
  });
});
