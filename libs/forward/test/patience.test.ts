import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { defineError } from "@evenkeel/runtime";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import type { Destination, Failure, Origin, Outcome } from "../src/index.ts";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const at = (port: number): Origin => ({ host: "127.0.0.1", port, protocol: "http1" });
const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const POST = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody";
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** A port where nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function ask(stage: Stage, bytes: string): Promise<Wire> {
  const client = await Wire.to(stage.port);
  client.send(bytes);
  return client;
}

describe("a deadline", () => {
  test.each([
    ["GET", GET],
    ["POST", POST],
  ])("of a try answers 504 to a %s and frees the upstream", async (_method, bytes) => {
    await using upstream = await WireServer.start();
    const clock = new FakeClock();
    await using stage = await Stage.start({ origin: at(upstream.port), deadlines: { response: 500 }, clock });
    const client = await ask(stage, bytes);
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    await clock.advance(499);
    expect(client.received).toBe("");
    await clock.advance(100);
    expect(await client.until("EK_FORWARD_TOO_SLOW: ")).toMatch(/^HTTP\/1\.1 504 /);
    await up.end();
    await stage.settled();
    expect(upstream.wires).toHaveLength(1);
    client.socket.destroy();
  });

  test("of a try does not run while the client still sends its body", async () => {
    await using upstream = await WireServer.start();
    const clock = new FakeClock();
    await using stage = await Stage.start({ origin: at(upstream.port), deadlines: { response: 250 }, clock });
    const client = await ask(stage, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\n\r\n");
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    for (const word of ["slow", "ly--"]) {
      await clock.advance(200);
      client.send(word);
      await up.until(word);
    }
    await clock.advance(200);
    up.send(OK);
    expect(await client.until("ok")).toMatch(/^HTTP\/1\.1 200 /);
    client.socket.destroy();
  });

  test("over all cuts an answer that goes on too long, and tells the client that it is not whole", async () => {
    await using upstream = await HttpUpstream.start((_request, response) => {
      response.write("for ever");
    });
    const outcomes: Outcome[] = [];
    const clock = new FakeClock();
    await using stage = await Stage.start({
      clock,
      router: {
        route: () => ({
          origin: upstream.origin,
          deadlines: { total: 150 },
          settled: (outcome) => outcomes.push(outcome),
        }),
      },
    });
    const client = await ask(stage, GET);
    await client.until("for ever");
    await clock.advance(250);
    expect(await client.end()).not.toMatch(/\r\n0\r\n/);
    await stage.settled();
    expect(outcomes).toEqual([{ status: 200, end: "broken" }]);
  });

  test("for a connection answers 503 when nothing accepts", async () => {
    const clock = new FakeClock();
    await using stage = await Stage.start({
      clock,
      router: {
        route: () => ({ origin: { host: "192.0.2.1", port: 80, protocol: "http1" }, deadlines: { connect: 100 } }),
      },
      limits: { tries: 1 },
    });
    const client = await ask(stage, POST);
    await eventually(async () => {
      await clock.advance(50);
      return client.received !== "";
    });
    // A documentation address: nobody answers, or the machine says at once that there is no way.
    expect(await client.until("EK_FORWARD_UNREACHABLE: ")).toMatch(/^HTTP\/1\.1 503 /);
    await stage.settled();
    client.socket.destroy();
  });
});

describe("a try that failed", () => {
  test("to connect is repeated for any method, and its body is sent once", async () => {
    const port = await freePort();
    await using upstream = await WireServer.start();
    const failures: Failure[] = [];
    await using stage = await Stage.start({
      router: {
        route: () => ({ origin: at(port) }),
        retry: (_exchange, failure) => {
          failures.push(failure);
          return { origin: at(upstream.port) };
        },
      },
    });
    const client = await ask(stage, POST);
    const up = await upstream.next();
    await up.until("\r\n\r\nbody");
    up.send(OK);
    await client.until("ok");
    expect(failures).toEqual([
      expect.objectContaining({ kind: "connect", tries: 1, repeatable: true, origin: at(port) }),
    ]);
    client.socket.destroy();
  });

  test("is repeated until the upstream is there, when the router waits between tries", async () => {
    const port = await freePort();
    const late = createServer((socket) => socket.once("data", () => socket.end(OK)));
    let tries = 0;
    await using stage = await Stage.start({
      router: {
        route: () => ({ origin: at(port) }),
        retry: async (): Promise<Destination> => {
          tries += 1;
          if (tries === 3) {
            late.listen(port, "127.0.0.1");
            await once(late, "listening");
          }
          return { origin: at(port) };
        },
      },
    });
    const client = await ask(stage, GET);
    expect(await client.until("ok")).toMatch(/^HTTP\/1\.1 200 /);
    expect(tries).toBe(3);
    client.socket.destroy();
    late.close();
  });

  test("by a reset is repeated for GET, and the metric counts it", async () => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({ origin: at(upstream.port) });
    const client = await ask(stage, GET);
    const first = await upstream.next();
    await first.until("\r\n\r\n");
    first.socket.destroy();
    const second = await upstream.next();
    await second.until("\r\n\r\n");
    second.send(OK);
    await client.until("ok");
    await stage.settled();
    await stage.forwarder.stop(AbortSignal.abort());
    const text = await stage.registry.text();
    expect(text).toContain("evenkeel_forward_retries_total 1");
    expect(text).toContain('evenkeel_forward_failures_total{kind="reset"} 1');
    expect(text).toContain('evenkeel_forward_requests_total{protocol="http1",answer="2xx"} 1');
  });

  test.each([
    ["a POST without a body", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n"],
    ["a PUT with a body that was sent", "PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody"],
  ])("by a reset is not repeated for %s", async (_name, bytes) => {
    await using upstream = await WireServer.start();
    await using stage = await Stage.start({
      router: {
        route: () => ({ origin: at(upstream.port) }),
        retry: () => {
          throw new Error("asked");
        },
      },
    });
    const client = await ask(stage, bytes);
    const up = await upstream.next();
    await up.until(bytes.slice(-4));
    up.socket.destroy();
    expect(await client.until("EK_FORWARD_BROKEN: ")).toMatch(/^HTTP\/1\.1 502 /);
    expect(upstream.wires).toHaveLength(1);
    client.socket.destroy();
  });

  test("frees the slot of its destination before the next is taken", async () => {
    const port = await freePort();
    await using upstream = await HttpUpstream.start((_request, response) => response.end("ok"));
    const events: string[] = [];
    await using stage = await Stage.start({
      router: {
        route: () => ({ origin: at(port), settled: ({ end }) => events.push(`first ${end}`) }),
        retry: () => ({ origin: upstream.origin, settled: ({ end }) => events.push(`second ${end}`) }),
      },
    });
    const client = await ask(stage, GET);
    await client.until("ok");
    await stage.settled();
    expect(events).toEqual(["first broken", "second answered"]);
    client.socket.destroy();
  });

  test("is not repeated beyond the limit", async () => {
    const port = await freePort();
    await using stage = await Stage.start({ origin: at(port), limits: { tries: 3 } });
    const client = await ask(stage, GET);
    await client.until("EK_FORWARD_UNREACHABLE: ");
    await stage.forwarder.stop(AbortSignal.abort());
    expect(await stage.registry.text()).toContain('evenkeel_forward_failures_total{kind="connect"} 3');
  });
});

describe("a router", () => {
  test("that throws is told to the log and costs one answer of 500", async () => {
    await using stage = await Stage.start({
      router: {
        route: () => {
          throw new Error("a defect");
        },
      },
    });
    const client = await ask(stage, GET);
    expect(await client.until("EK_FORWARD_NO_ROUTE: ")).toMatch(/^HTTP\/1\.1 500 /);
    expect(stage.lines.join("")).toContain("a defect");
    expect(client.received).not.toContain("a defect");
    client.socket.destroy();
  });

  test("that rejects with a retryable error makes it 503 with its code", async () => {
    const Asleep = defineError({ code: "EK_TEST_ASLEEP", recovery: "retryable", message: "asleep", remedy: "Wait." });
    await using stage = await Stage.start({ router: { route: () => Promise.reject(new Asleep({})) } });
    const client = await ask(stage, GET);
    expect(await client.until("EK_TEST_ASLEEP: asleep")).toMatch(/^HTTP\/1\.1 503 /);
    client.socket.destroy();
  });

  test("refuses with a status, headers and body of its own", async () => {
    await using stage = await Stage.start({
      router: { route: () => ({ refuse: { status: 429, headers: ["retry-after", "3"], body: "later" } }) },
    });
    const client = await ask(stage, GET);
    expect(await client.until("later")).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: 3\r\n/);
    client.socket.destroy();
  });

  test.each([204, 304])(
    "refuses with %d, which has no body and no length, and keeps the connection",
    async (status) => {
      const refusals = [
        { status, body: "nobody reads this" },
        { status: 200, body: "next" },
      ];
      await using stage = await Stage.start({
        router: { route: () => ({ refuse: refusals.shift() ?? { status: 500 } }) },
      });
      const client = await ask(stage, GET + GET);
      const received = await client.until("next");
      expect(received.slice(0, received.indexOf("HTTP/1.1 200"))).not.toMatch(/content-length|nobody/i);
      client.socket.destroy();
    },
  );

  test("holds a request with its body unread, and releases it", async () => {
    await using upstream = await WireServer.start();
    const { promise, resolve } = Promise.withResolvers<Destination>();
    await using stage = await Stage.start({ router: { route: () => promise } });
    const client = await ask(stage, POST);
    await stage.settled({ exchanges: 1 });
    expect(upstream.wires).toEqual([]);
    resolve({ origin: at(upstream.port) });
    const up = await upstream.next();
    await up.until("\r\n\r\nbody");
    up.send(OK);
    await client.until("ok");
    client.socket.destroy();
  });

  test("hears by `whenLeft` of a client that left while held, and what it then says reaches nobody", async () => {
    await using upstream = await WireServer.start();
    const { promise, resolve } = Promise.withResolvers<Destination>();
    const outcomes: Outcome[] = [];
    const { promise: left, resolve: hasLeft } = Promise.withResolvers<undefined>();
    await using stage = await Stage.start({
      router: {
        route: (exchange) => {
          exchange.whenLeft = { left: () => hasLeft(undefined) };
          return promise;
        },
      },
    });
    const client = await ask(stage, GET);
    await stage.settled({ exchanges: 1 });
    client.socket.destroy();
    await left;
    await stage.settled();
    resolve({ origin: at(upstream.port), settled: (outcome) => outcomes.push(outcome) });
    await new Promise((done) => setImmediate(done));
    expect(outcomes).toEqual([{ status: 0, end: "left" }]);
    expect(upstream.wires).toEqual([]);
  });
});

test("counts what is in flight at an origin, and drops its pool when it is idle", async () => {
  await using upstream = await WireServer.start();
  const origin = at(upstream.port);
  await using stage = await Stage.start({ origin, limits: { upstreamIdle: 150 } });
  const clients = await Promise.all([GET, POST, GET].map((bytes) => ask(stage, bytes)));
  const ups = [await upstream.next(), await upstream.next(), await upstream.next()];
  expect(stage.forwarder.inFlight(origin)).toBe(3);
  for (const up of ups) {
    await up.until("\r\n\r\n");
    up.send(OK);
  }
  for (const client of clients) {
    await client.until("ok");
    client.socket.destroy();
  }
  await stage.settled({ origins: 0, upstreamSockets: 0, timers: 0 }, 3_000);
  expect(stage.forwarder.inFlight(origin)).toBe(0);
  for (const up of ups) await up.end();
});
