import { createHook } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type ClientHttp2Session, connect, type ServerHttp2Stream } from "node:http2";
import { setImmediate as immediate } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import type { Origin } from "../src/index.ts";
import { http2Upstream } from "./parts/http2-upstream.ts";
import { Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

/** The default limit of node:http for a request, and of other clients for a response. */
const DEFAULT = 300_000;
const LONG = DEFAULT + 10_000;
const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const put = (body: string) => `PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\n\r\n${body}`;
/** Responses have a date, because Node starts a timer for one that it adds itself. */
const DATE = "today";
const OK = `HTTP/1.1 200 OK\r\ndate: ${DATE}\r\ncontent-length: 8\r\n\r\n`;
const at = (port: number): Origin => ({ host: "127.0.0.1", port, protocol: "http1" });

/** Node's timers that were set since, those of sockets and HTTP/2 sessions among them. */
function watchTimers() {
  const delays = new Map<number, number>();
  const hook = createHook({
    init: (id, type, _trigger, timer) => {
      if (type === "Timeout") delays.set(id, (timer as { readonly _idleTimeout: number })._idleTimeout);
    },
    destroy: (id) => delays.delete(id),
  }).enable();
  return {
    /** Resolves when those with the delays `expected` run and no others. The test runner has some that end soon. */
    only: (expected: readonly number[]) =>
      eventually(async () => {
        // Node reports the end of timers before it runs this.
        await immediate();
        expect([...delays.values()].sort((a, b) => a - b)).toEqual(expected);
      }, 5_000),
    [Symbol.dispose]: () => hook.disable(),
  };
}

/** Times that are far from the defaults, so that a timer is recognized by its delay. */
const limits = { clientIdle: 71_000, upstreamIdle: 31_000, headTime: 21_000 };

describe("an upstream may take longer than 300 s for the head of its response, and between two parts of it,", () => {
  test.each([
    ["a GET, for which Node runs no timer", GET, "\r\n\r\n", []],
    ["a PUT, for which Node runs only the timer of idle connections", put("complete"), "complete", [31_000]],
  ])("to %s", async (_name, request, read, expected) => {
    await using upstream = await WireServer.start();
    const clock = new FakeClock();
    await using stage = await Stage.start({ origin: at(upstream.port), deadlines: { response: 0 }, limits, clock });
    using timers = watchTimers();
    const client = await Wire.to(stage.port);
    client.send(request);
    const up = await upstream.next();
    await up.until(read);
    up.send(`${OK}complete`);
    await client.until("complete");
    // Both connections are used again, so that whatever was set while they were idle is still there.
    up.clear();
    client.clear();
    client.send(request);
    await up.until(read);
    await clock.advance(LONG);
    await timers.only(expected);
    up.send(`${OK}half`);
    await client.until("half");
    await clock.advance(LONG);
    await timers.only(expected);
    up.send("half");
    expect(await client.until("halfhalf")).toMatch(/^HTTP\/1\.1 200 /);
    expect(upstream.wires).toHaveLength(1);
    client.socket.destroy();
  });

  test("to a stream of HTTP/2, for which Node runs only the timers of idle sessions", async () => {
    const streams: ServerHttp2Stream[] = [];
    await using upstream = await http2Upstream((stream) => streams.push(stream));
    const clock = new FakeClock();
    await using stage = await Stage.start({ origin: upstream.origin, deadlines: { response: 0 }, limits, clock });
    using timers = watchTimers();
    const session = connect(stage.url);
    const text = textOf(session);
    const stream = await eventually(() => streams[0] ?? false);
    await clock.advance(LONG);
    await timers.only([31_000, 71_000]);
    stream.respond({ ":status": 200, date: DATE });
    stream.write("half");
    await clock.advance(LONG);
    await timers.only([31_000, 71_000]);
    stream.end("half");
    expect(await text).toBe("halfhalf");
    session.destroy();
  });
});

describe("node:http", () => {
  test("gives requests all the time that they need: of its limits only that of the head is in force", async () => {
    expect(createServer().requestTimeout).toBe(DEFAULT);
    const servers = new Set<Server>();
    const note = (message: unknown) => servers.add((message as { server: Server }).server);
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: at(upstream.port), limits: { headTime: 20_000 } });
    subscribe("http.server.request.start", note);
    const client = await Wire.to(stage.port);
    client.send(GET);
    await upstream.next();
    unsubscribe("http.server.request.start", note);
    const [server, ...others] = servers;
    expect(others).toEqual([]);
    // `timeout` is that of a socket on which nothing moves, as on one that is held.
    expect(server).toMatchObject({ requestTimeout: 0, timeout: 0, headersTimeout: 20_000 });
    client.socket.destroy();
  });

  test("has a limit for heads that ends with the head: an upload stands still for as long as it likes", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: at(upstream.port), limits: { headTime: 200, clientIdle: 200 } });
    const client = await Wire.to(stage.port);
    client.send(put("half"));
    const up = await upstream.next();
    await up.until("half");
    // A later head that stays incomplete: whatever limits requests looks at both.
    const silent = await Wire.to(stage.port);
    await silent.send("PUT / HTTP/1.1\r\n").end();
    client.send("HALF");
    await up.until("HALF");
    up.send(`${OK}complete`);
    await client.until("complete");
    client.socket.destroy();
  });

  test("as a client closes idle connections, and no others: an upload to a slow upstream is complete", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({
      origin: at(upstream.port),
      limits: { upstreamIdle: 100 },
      deadlines: { response: 0 },
    });
    const upload = async () => {
      const client = await Wire.to(stage.port);
      client.send(put("complete"));
      const up = await upstream.next();
      await up.until("complete");
      up.send(`${OK}complete`);
      await client.until("complete");
      return { client, up };
    };
    /** Resolves when a later connection was idle for so long that it is closed. */
    const idleTimePasses = async () => (await upload()).up.end();
    const { client, up } = await upload();
    client.send(put("half"));
    await up.until("half");
    await idleTimePasses();
    client.send("HALF");
    await up.until("HALF");
    await idleTimePasses();
    client.clear();
    up.send(`${OK}complete`);
    await client.until("complete");
    // Idle now, it is closed too.
    await up.end();
    client.socket.destroy();
  });
});

test("node:http2 closes idle sessions, and none with a request that waits for its upstream", async () => {
  const streams: ServerHttp2Stream[] = [];
  await using slow = await http2Upstream((stream) => streams.push(stream));
  await using quick = await http2Upstream((stream) => {
    stream.respond({ ":status": 200 });
    stream.end("quick");
  });
  await using stage = await Stage.start({
    // The pools of connections go by this clock, so only Node can close a session.
    clock: new FakeClock(),
    router: { route: ({ path }) => ({ origin: path === "/quick" ? quick.origin : slow.origin }) },
    limits: { clientIdle: 100, upstreamIdle: 100 },
  });
  const session = connect(stage.url);
  const text = textOf(session);
  const stream = await eventually(() => streams[0] ?? false);
  const later = connect(stage.url);
  const closed = once(later, "close");
  expect(await textOf(later, "/quick")).toBe("quick");
  await closed;
  await eventually(() => [...quick.sessions].every((one) => one.closed));
  expect([session.closed, stream.session?.closed]).toEqual([false, false]);
  stream.respond({ ":status": 200 });
  stream.end("slow");
  expect(await text).toBe("slow");
});

async function textOf(session: ClientHttp2Session, path = "/"): Promise<string> {
  let text = "";
  for await (const data of session.request({ ":path": path })) text += String(data);
  return text;
}
