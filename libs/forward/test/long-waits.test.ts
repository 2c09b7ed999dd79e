import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { describe, expect, test } from "@jest/globals";
import { Pool } from "undici";
import type { Origin } from "../src/index.ts";
import { Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

/** What node:http gives a whole request, and undici a head and each part of a body, unless they are told otherwise. */
const DEFAULT = 300_000;
const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const at = (port: number): Origin => ({ host: "127.0.0.1", port, protocol: "http1" });

/**
 * undici's own clock, which no other drives: its timers of a second and more go by it. It has this for its own tests.
 */
const undiciClock = createRequire(import.meta.url)("undici/lib/util/timers.js") as { tick(milliseconds: number): void };

/** Timers begin with the tick after they were set. */
function passLong(): void {
  for (const milliseconds of [500, DEFAULT + 10_000, 500]) undiciClock.tick(milliseconds);
}

const nap = () => new Promise((resolve) => setTimeout(resolve, 50));

describe("longer than 300 s by undici's clock", () => {
  test("is too long for undici as it comes, so that the tests below can fail", async () => {
    await using upstream = await WireServer.start();
    const pool = new Pool(`http://127.0.0.1:${upstream.port}`);
    const asked = pool.request({ path: "/", method: "GET" });
    asked.catch(() => undefined);
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    passLong();
    await expect(asked).rejects.toMatchObject({ code: "UND_ERR_HEADERS_TIMEOUT" });
    await pool.destroy();
  });

  test("an upstream may take for the head of its answer, and between two parts of it", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: at(upstream.port), deadlines: { response: 0 } });
    const client = await Wire.to(stage.port);
    client.send(GET);
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    passLong();
    await nap();
    expect([client.received, up.closed]).toEqual(["", false]);
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nhalf");
    await client.until("half");
    passLong();
    await nap();
    expect(up.closed).toBe(false);
    up.send("half");
    await client.until("halfhalf");
    client.socket.destroy();
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
    const silent = await Wire.to(stage.port);
    silent.send("PUT / HTTP/1.1\r\n");
    const client = await Wire.to(stage.port);
    client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\n\r\nhalf");
    const up = await upstream.next();
    await up.until("half");
    // By then whatever takes a request's time has looked at both.
    await silent.end();
    await nap();
    expect(client.closed).toBe(false);
    client.send("HALF");
    await up.until("HALF");
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    await client.until("ok");
    client.socket.destroy();
  });

  test("as a client lets idle connections go, and no other: an upload to an upstream that takes its time is whole", async () => {
    await using upstream = await WireServer.start();
    const limits = { upstreamIdle: 100 };
    await using stage = await Stage.start({ origin: at(upstream.port), limits, deadlines: { response: 0 } });
    const client = await Wire.to(stage.port);
    client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\n\r\nhalf");
    const up = await upstream.next();
    await up.until("half");
    for (let times = 0; times < 10; times++) await nap();
    expect(up.closed).toBe(false);
    client.send("HALF");
    await up.until("HALF");
    for (let times = 0; times < 10; times++) await nap();
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    await client.until("ok");
    // Idle now, it goes.
    await once(up.socket, "close");
    client.socket.destroy();
  });
});
