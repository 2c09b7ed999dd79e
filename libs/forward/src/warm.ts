import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Clock } from "@evenkeel/runtime";
import type { Destination, Origin, Router } from "./destination.ts";
import type { Forwarder } from "./forwarder.ts";

export interface WarmOptions {
  /** Requests of each kind: without a body, with one, held together and released at once, by HTTP/2. */
  readonly requests?: number;
  /** Milliseconds after which no further burst starts. */
  readonly within?: number;
}

/** The result of a warm-up. */
export interface Warmth {
  readonly requests: number;
  readonly milliseconds: number;
}

/** Concurrent requests. */
const BURST = 50;
const ANSWER = Buffer.alloc(1024, 0x20);

/** Runs bursts of requests through a forwarder from `make`. */
export async function warmUp(
  make: (router: Router) => Forwarder,
  clock: Clock,
  { requests = 1_500, within = 5_000 }: WarmOptions = {},
): Promise<Warmth> {
  const began = clock.monotonic();
  await using upstreams = await Upstreams.start();
  const { http1, h2c } = upstreams;
  const held: ((destination: Destination) => void)[] = [];
  const router: Router = {
    route: ({ path, protocol }) => {
      if (path === "/held") return new Promise<Destination>((resolve) => void held.push(resolve));
      return { origin: protocol === "h2c" ? h2c : http1 };
    },
  };
  const forwarder = make(router);
  await forwarder.start();
  const { port } = forwarder;
  const agent = new Agent({ keepAlive: true, maxSockets: BURST });
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  let done = 0;
  const kinds: (() => Promise<unknown>)[] = [
    () => burst(() => ask(agent, port, "GET", "/")),
    () => burst(() => ask(agent, port, "POST", "/")),
    () => {
      const all = burst(() => ask(agent, port, "GET", "/held"));
      const release = () => {
        // They are released together, as those of a service that wakes.
        if (held.length < BURST) return void setImmediate(release);
        for (const resolve of held.splice(0)) resolve({ origin: http1 });
      };
      release();
      return all;
    },
    () => burst(() => askHttp2(session)),
  ];
  try {
    for (let sent = 0; sent < requests && clock.monotonic() - began < within; sent += BURST) {
      for (const kind of kinds) {
        await kind();
        done += BURST;
      }
    }
  } finally {
    agent.destroy();
    session.destroy();
    const now = AbortSignal.abort();
    await forwarder.drain(now);
    await forwarder.stop(now);
  }
  return { requests: done, milliseconds: clock.monotonic() - began };
}

function burst(one: () => Promise<void>): Promise<unknown> {
  return Promise.all(Array.from({ length: BURST }, one));
}

function ask(agent: Agent, port: number, method: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ agent, host: "127.0.0.1", port, method, path }, (response) => {
      response.resume();
      response.on("end", resolve);
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(method === "POST" ? ANSWER : undefined);
  });
}

function askHttp2(session: ReturnType<typeof connect>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": "/" });
    stream.on("error", reject);
    stream.on("end", resolve);
    stream.resume();
    stream.end(ANSWER);
  });
}

/** Upstreams of both protocols, on loopback. */
class Upstreams implements AsyncDisposable {
  readonly http1: Origin;
  readonly h2c: Origin;
  readonly #close: () => Promise<void>;

  private constructor(http1: number, h2c: number, close: () => Promise<void>) {
    this.http1 = { host: "127.0.0.1", port: http1, protocol: "http1" };
    this.h2c = { host: "127.0.0.1", port: h2c, protocol: "h2c" };
    this.#close = close;
  }

  static async start(): Promise<Upstreams> {
    const plain = createServer((asked, answer) => {
      asked.resume().on("end", () => answer.writeHead(200, { "content-length": ANSWER.length }).end(ANSWER));
    });
    const http2 = createHttp2Server();
    http2.on("stream", (stream) => {
      stream.on("error", () => undefined);
      stream.resume().on("end", () => {
        stream.respond({ ":status": 200 });
        stream.end(ANSWER);
      });
    });
    plain.listen(0, "127.0.0.1");
    http2.listen(0, "127.0.0.1");
    await Promise.all([once(plain, "listening"), once(http2, "listening")]);
    const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
    return new Upstreams(portOf(plain), portOf(http2), async () => {
      const closed = Promise.all([once(plain, "close"), once(http2, "close")]);
      plain.close();
      plain.closeAllConnections();
      http2.close();
      await closed;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
