import {
  createServer,
  connect as connectHttp2,
  type ClientHttp2Session,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { addAbortSignal } from "node:stream";
import { describe, expect, jest, test } from "@jest/globals";
import { Stage } from "./parts/stage.ts";
import { transports } from "./parts/transport.ts";
import { Wire, WireServer } from "./parts/wire.ts";

/** Each way to die is tried so many times, ten at once. */
const SOAK = process.env["SOAK"] === "1";
const ROUNDS = SOAK ? 1_000 : 100;
jest.setTimeout(SOAK ? 600_000 : 30_000);
const AT_ONCE = 10;

/** The other side must have noticed by then, in milliseconds. */
const SOON = 1_000;

const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const POST = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\nthe first bytes";
const CHUNKED_POST = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
const UPGRADE = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n5\r\nhello\r\n";
const LENGTH = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello";

/** Where in the exchange somebody dies: what was said until then. */
interface Point {
  readonly where: string;
  readonly asks: string;
  /** What the upstream has read before it goes on. */
  readonly read?: string;
  /** What the upstream has answered, and what of that the client has seen. */
  readonly answers?: string;
  readonly seen?: string;
}

const points: readonly Point[] = [
  { where: "after the request, before the answer", asks: GET, read: "\r\n\r\n" },
  { where: "inside the head of the answer", asks: GET, read: "\r\n\r\n", answers: "HTTP/1.1 200 OK\r\ncontent-le" },
  { where: "inside a body with a length", asks: GET, read: "\r\n\r\n", answers: LENGTH, seen: "\r\n\r\nhello" },
  { where: "inside a chunked body", asks: GET, read: "\r\n\r\n", answers: CHUNKED, seen: "hello" },
  { where: "inside the trailers", asks: GET, read: "\r\n\r\n", answers: `${CHUNKED}0\r\nx-su`, seen: "hello" },
  { where: "inside the request's body", asks: POST, read: "the first bytes" },
  { where: "inside the request's chunked body", asks: CHUNKED_POST, read: "hello" },
  { where: "inside both bodies", asks: CHUNKED_POST, read: "hello", answers: CHUNKED, seen: "5\r\nhello\r\n" },
  { where: "before an upgrade is granted", asks: UPGRADE, read: "\r\n\r\n" },
  { where: "in the tunnel", asks: UPGRADE, read: "\r\n\r\n", answers: `${SWITCHING}hello`, seen: "hello" },
];

async function rounds(run: (round: number) => Promise<void>): Promise<void> {
  for (let done = 0; done < ROUNDS; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => run(done + index)));
  }
}

function kill(wire: Wire, round: number): void {
  if (round % 2 === 0) wire.socket.destroy();
  else wire.reset();
}

async function noticed(wire: Wire): Promise<void> {
  const began = performance.now();
  await wire.end();
  expect(performance.now() - began).toBeLessThan(SOON);
}

/** Every round has its own upstream, so each upstream connection belongs to a known client. */
async function meet(point: Point, stage: Stage, upstream: WireServer): Promise<{ client: Wire; up: Wire }> {
  const client = await Wire.to(stage.port);
  const next = upstream.next();
  client.send(point.asks);
  const up = await next;
  await up.until(point.read ?? "");
  if (point.answers !== undefined) up.send(point.answers);
  if (point.seen !== undefined) await client.until(point.seen);
  return { client, up };
}

const nothing = { exchanges: 0, tunnels: 0, clientSockets: 0, upstreamSockets: 0, timers: 0 };

describe.each(transports())("an upstream of HTTP/1.1 %s", (_name, transport) => {
  async function scene() {
    const upstreams: WireServer[] = [];
    for (let index = 0; index < AT_ONCE; index++) upstreams.push(await WireServer.start(transport));
    let turn = 0;
    const stage = await Stage.start({
      limits: { tries: 1 },
      router: {
        route: () => {
          const { origin } = upstreams[turn++ % AT_ONCE] as WireServer;
          return { origin };
        },
      },
    });
    return {
      stage,
      upstreams,
      async [Symbol.asyncDispose]() {
        await stage[Symbol.asyncDispose]();
        for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
      },
    };
  }

  describe("when the client dies", () => {
    test.each(points)(`$where, the upstream's connection ends, ${ROUNDS} times`, async (point) => {
      await using s = await scene();
      const all = new WireServers(s.upstreams);
      await rounds(async (round) => {
        const client = await Wire.to(s.stage.port);
        client.send(point.asks);
        const up = await all.next();
        await up.until(point.read ?? "");
        if (point.answers !== undefined) up.send(point.answers);
        if (point.seen !== undefined) await client.until(point.seen);
        kill(client, round);
        await noticed(up);
      });
      await s.stage.settled(nothing);
    });

    test.each(["", "GET / HTTP/1.1\r\nho"])(
      `before its request is complete (%j), nobody is asked, ${ROUNDS} times`,
      async (asks) => {
        await using s = await scene();
        await rounds(async (round) => {
          const client = await Wire.to(s.stage.port);
          if (asks !== "") client.send(asks);
          kill(client, round);
        });
        await s.stage.settled(nothing);
        expect(s.upstreams.flatMap(({ wires }) => wires)).toEqual([]);
      },
    );
  });

  describe("when the upstream dies", () => {
    test.each(points)(`$where, the client hears of it, ${ROUNDS} times`, async (point) => {
      await using upstream = await WireServer.start(transport);
      const { origin } = upstream;
      await using stage = await Stage.start({ origin, limits: { tries: 1 } });
      // One after the other where it matters which connection is which.
      for (let round = 0; round < ROUNDS; round++) {
        const { client, up } = await meet(point, stage, upstream);
        const began = performance.now();
        kill(up, round);
        if (point.seen === undefined) await client.until(/^HTTP\/1\.1 502 [^]*EK_FORWARD_BROKEN: /);
        else {
          await client.end();
          expect(client.received).not.toMatch(/\r\n0\r\n/);
        }
        expect(performance.now() - began).toBeLessThan(SOON);
        client.socket.destroy();
      }
      await stage.settled(nothing);
    });
  });

  /** The next connection at any of several servers. */
  class WireServers {
    readonly #found: Wire[] = [];
    readonly #waiting: ((wire: Wire) => void)[] = [];

    constructor(servers: readonly WireServer[]) {
      const follow = async (server: WireServer): Promise<void> => {
        for (;;) {
          const wire = await server.next();
          const taker = this.#waiting.shift();
          if (taker) taker(wire);
          else this.#found.push(wire);
        }
      };
      for (const server of servers) void follow(server);
    }

    next(): Promise<Wire> {
      const wire = this.#found.shift();
      return wire ? Promise.resolve(wire) : new Promise((resolve) => this.#waiting.push(resolve));
    }
  }
});

describe("over HTTP/2", () => {
  const places = ["before the answer", "inside the answer", "inside the request"] as const;

  async function open() {
    const server: Http2Server = createServer();
    server.on("stream", (stream) => stream.on("error", () => undefined));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const stage = await Stage.start({ origin: { host: "127.0.0.1", port, protocol: "h2c" }, limits: { tries: 1 } });
    const session: ClientHttp2Session = connectHttp2(stage.url);
    session.on("error", () => undefined);
    return {
      server,
      stage,
      session,
      async [Symbol.asyncDispose]() {
        session.destroy();
        await stage[Symbol.asyncDispose]();
        server.close();
      },
    };
  }

  async function start(s: Awaited<ReturnType<typeof open>>, place: (typeof places)[number]) {
    const asks = place === "inside the request";
    const arrived = once(s.server, "stream") as Promise<[ServerHttp2Stream]>;
    const stream = s.session.request({ ":path": "/", ":method": asks ? "POST" : "GET" }, { endStream: !asks });
    stream.on("error", () => undefined);
    if (asks) stream.write("hello");
    const [up] = await arrived;
    if (place === "inside the answer") {
      const answered = once(stream, "data");
      up.respond({ ":status": 200 });
      up.write("hello");
      await answered;
    } else if (asks) await once(up, "data");
    return { stream, up };
  }

  test.each(places)(`the end of a client's stream %s ends the upstream's, ${ROUNDS} times`, async (place) => {
    await using s = await open();
    for (let round = 0; round < ROUNDS; round++) {
      const { stream, up } = await start(s, place);
      let whole = false;
      // Node also ends a stream that is reset; `rstCode` tells the difference.
      up.on("end", () => (whole = up.rstCode === 0));
      up.resume();
      const closed = new Promise((resolve) => up.once("close", resolve));
      const began = performance.now();
      addAbortSignal(AbortSignal.abort(), stream);
      await closed;
      expect(performance.now() - began).toBeLessThan(SOON);
      expect(up.rstCode).toBe(8);
      if (place === "inside the request") expect(whole).toBe(false);
    }
    await s.stage.settled();
  });

  test(`the end of a client's stream inside the request leaves it unfinished at an upstream of HTTP/1.1, ${ROUNDS} times`, async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: upstream.origin });
    const session = connectHttp2(stage.url);
    for (let round = 0; round < ROUNDS; round++) {
      const stream = session.request({ ":path": "/", ":method": "POST" });
      stream.on("error", () => undefined);
      stream.write("hello");
      const up = await upstream.next();
      await up.until("hello");
      addAbortSignal(AbortSignal.abort(), stream);
      await noticed(up);
      expect(up.received).not.toMatch(/hello\r\n0\r\n/);
    }
    await stage.settled();
    session.destroy();
  });

  test.each(places)(`a reset of the upstream's stream %s reaches the client, ${ROUNDS} times`, async (place) => {
    await using s = await open();
    for (let round = 0; round < ROUNDS; round++) {
      const { stream, up } = await start(s, place);
      let whole = false;
      stream.on("end", () => (whole = true));
      const heard =
        place === "inside the answer"
          ? new Promise((resolve) => stream.once("close", resolve)).then(() => [stream.rstCode, whole])
          : once(stream, "response").then(([head]) => (head as { ":status": number })[":status"]);
      stream.resume();
      up.destroy(new Error("gone"));
      expect(await heard).toEqual(place === "inside the answer" ? [2, false] : 502);
      stream.close();
    }
    await s.stage.settled();
  });
});
