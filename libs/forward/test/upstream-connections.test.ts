import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { Stage, type StageOptions } from "./parts/stage.ts";
import { transports } from "./parts/transport.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
const answer = (body: string, header = "") =>
  `HTTP/1.1 200 OK\r\n${header}content-length: ${body.length}\r\n\r\n${body}`;

describe.each(transports())("connections to an upstream %s", (_name, transport) => {
  async function scene(options: StageOptions = {}) {
    const upstream = await WireServer.start(transport);
    const stage = await Stage.start({ origin: upstream.origin, ...options });
    const clients: Wire[] = [];
    return {
      upstream,
      stage,
      async ask(path: string) {
        const client = await Wire.to(stage.port);
        clients.push(client);
        return client.send(get(path));
      },
      async [Symbol.asyncDispose]() {
        for (const client of clients) client.socket.destroy();
        await stage[Symbol.asyncDispose]();
        await upstream[Symbol.asyncDispose]();
      },
    };
  }

  test("are closed before the upstream would close them, if it says when", async () => {
    const clock = new FakeClock();
    await using s = await scene({ clock });
    const client = await s.ask("/");
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send(answer("ok", "keep-alive: timeout=3\r\n"));
    await client.until("ok");
    await clock.advance(900);
    expect(s.stage.forwarder.counts().upstreamSockets).toBe(1);
    await clock.advance(200);
    await up.end();
    await s.stage.settled({ upstreamSockets: 0 });
  });

  test("are closed when they are idle, although others are in use", async () => {
    const clock = new FakeClock();
    await using s = await scene({ clock, limits: { upstreamIdle: 1_000 }, deadlines: { response: 0 } });
    const long = await s.ask("/long");
    const busy = await s.upstream.next();
    await busy.until("/long");
    const client = await s.ask("/short");
    const idle = await s.upstream.next();
    await idle.until("/short");
    idle.send(answer("ok"));
    await client.until("ok");
    for (let step = 0; step < 5; step++) await clock.advance(500);
    await idle.end();
    busy.send(answer("late"));
    await long.until("late");
  });

  test("are not used again if bytes came that nobody asked for", async () => {
    await using s = await scene();
    const client = await s.ask("/1");
    const up = await s.upstream.next();
    await up.until("/1");
    up.send(answer("one"));
    await client.until("one");
    up.send(answer("forged"));
    await up.end();
    client.send(get("/2"));
    const second = await s.upstream.next();
    await second.until("/2");
    second.send(answer("two"));
    expect(await client.until("two")).not.toContain("forged");
  });

  test("are not used again if the bytes came with the response", async () => {
    await using s = await scene();
    const client = await s.ask("/1");
    const up = await s.upstream.next();
    await up.until("/1");
    up.send(answer("one") + answer("forged"));
    await client.until("one");
    client.send(get("/2"));
    const second = await s.upstream.next();
    await second.until("/2");
    second.send(answer("two"));
    expect(await client.until("two")).not.toContain("forged");
  });

  test("are no more than the limit: requests wait in order, and the one of a client that left is not sent", async () => {
    await using s = await scene({ limits: { upstreamConnections: 1 } });
    const first = await s.ask("/1");
    const up = await s.upstream.next();
    await up.until("/1");
    const second = await s.ask("/2");
    await s.stage.settled({ exchanges: 2 });
    const third = await s.ask("/3");
    await s.stage.settled({ exchanges: 3 });
    second.socket.destroy();
    await s.stage.settled({ exchanges: 2 });
    up.send(answer("one"));
    await first.until("one");
    await up.until("GET /3 ");
    up.send(answer("three"));
    await third.until("three");
    expect(up.received).not.toContain("GET /2 ");
    expect(s.upstream.wires).toHaveLength(1);
  });

  test("are opened for a request that waits when another one breaks", async () => {
    await using s = await scene({ limits: { upstreamConnections: 1, tries: 1 } });
    const first = await s.ask("/1");
    const up = await s.upstream.next();
    await up.until("/1");
    const second = await s.ask("/2");
    await s.stage.settled({ exchanges: 2 });
    up.socket.destroy();
    await first.until("EK_FORWARD_BROKEN: ");
    const next = await s.upstream.next();
    await next.until("GET /2 ");
    next.send(answer("two"));
    await second.until("two");
  });

  test("that cannot even be tried cost one answer", async () => {
    await using other = await WireServer.start(transport);
    await using s = await scene({ origin: { ...other.origin, port: 70_000 }, limits: { tries: 1 } });
    const client = await s.ask("/");
    expect(await client.until("EK_FORWARD_UNREACHABLE: ")).toMatch(/^HTTP\/1\.1 503 /);
    await s.stage.settled({ exchanges: 0, timers: 0, upstreamSockets: 0 });
  });

  test("carry a response behind a 100 Continue that nobody asked for, which is dropped", async () => {
    await using s = await scene();
    const client = await s.ask("/");
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send(`HTTP/1.1 100 Continue\r\n\r\n${answer("ok")}`);
    expect(await client.until("ok")).toMatch(/^HTTP\/1\.1 200 /);
  });
});
