import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Duplex, Writable } from "node:stream";
import { describe, expect, jest, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { standstill } from "./parts/standstill.ts";
import { type Transport, transports } from "./parts/transport.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const MiB = 1024 * 1024;
const SOAK = process.env["SOAK"] === "1";

/** How much goes each way; a gibibyte in soak. */
function sizeOver({ tls }: Transport): number {
  return SOAK ? 1024 * MiB : tls ? 64 * MiB : 256 * MiB;
}

jest.setTimeout(SOAK ? 600_000 : 30_000);

const part = Buffer.from(Array.from({ length: MiB }, (_, index) => (index * 31) & 0xff));

/** Writes `size` bytes as fast as they are taken. */
async function fill(sink: Writable, size: number): Promise<void> {
  for (let sent = 0; sent < size; sent += part.length) if (!sink.write(part)) await once(sink, "drain");
  sink.end();
}

/** The digest of what `fill` writes. */
function digestOf(size: number): string {
  const hash = createHash("sha256");
  for (let done = 0; done < size; done += part.length) hash.update(part);
  return hash.digest("hex");
}

/** The most that this process has grown by while `run` runs. Both ends and the forwarder live in it. */
async function growth(run: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return peak - before;
}

function answering(transport: Transport): Promise<HttpUpstream> {
  const size = sizeOver(transport);
  return HttpUpstream.start((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-length": size });
      void fill(response, size);
      return;
    }
    const hash = createHash("sha256");
    request.on("data", (data: Buffer) => hash.update(data));
    request.on("end", () => response.end(hash.digest("hex")));
  }, transport);
}

function upload(port: number, chunked: boolean, size: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = chunked ? {} : { "content-length": size };
    const asked = httpRequest({ port, method: "PUT", headers, agent: false }, (response) => {
      response.setEncoding("latin1");
      let text = "";
      response.on("data", (data: string) => (text += data));
      response.on("end", () => resolve(text));
    });
    asked.on("error", reject);
    void fill(asked, size);
  });
}

describe.each(transports())("hundreds of megabytes in flat memory, %s", (_name, transport) => {
  const SIZE = sizeOver(transport);

  test.each([
    ["with a length", false],
    ["in chunks", true],
  ])("up, %s", async (_name, chunked) => {
    await using upstream = await answering(transport);
    await using stage = await Stage.start({ origin: upstream.origin });
    let digest = "";
    const grown = await growth(async () => {
      digest = await upload(stage.port, chunked, SIZE);
    });
    expect(digest).toBe(digestOf(SIZE));
    expect(grown).toBeLessThan(96 * MiB);
  });

  test("down", async () => {
    await using upstream = await answering(transport);
    await using stage = await Stage.start({ origin: upstream.origin });
    const hash = createHash("sha256");
    const grown = await growth(async () => {
      const [response] = (await once(httpRequest({ port: stage.port, agent: false }).end(), "response")) as [
        AsyncIterable<Buffer>,
      ];
      for await (const data of response) hash.update(data);
    });
    expect(hash.digest("hex")).toBe(digestOf(SIZE));
    expect(grown).toBeLessThan(96 * MiB);
  });

  test("both ways through a tunnel", async () => {
    await using upstream = await HttpUpstream.start(undefined, transport);
    upstream.server.on("upgrade", (_request, socket) => {
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n");
      socket.pipe(socket);
    });
    await using stage = await Stage.start({ origin: upstream.origin });
    const asked = httpRequest({
      port: stage.port,
      headers: { connection: "upgrade", upgrade: "echo" },
      agent: false,
    });
    const [, socket] = (await once(asked.end(), "upgrade")) as [unknown, Duplex];
    const hash = createHash("sha256");
    const grown = await growth(async () => {
      void fill(socket, SIZE);
      let received = 0;
      for await (const data of socket) {
        hash.update(data as Buffer);
        received += (data as Buffer).length;
        if (received >= SIZE) break;
      }
    });
    expect(hash.digest("hex")).toBe(digestOf(SIZE));
    // All of it passes four sockets of this process, and garbage is collected later on a busy machine.
    expect(grown).toBeLessThan(transport.tls ? 64 * MiB : 128 * MiB);
    await stage.settled();
  });
});

test("up and down at once in flat memory over HTTP/2, from h2c to h2c", async () => {
  const server = createHttp2Server();
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200 });
    stream.pipe(stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  await using stage = await Stage.start({
    origin: { host: "127.0.0.1", port: (server.address() as AddressInfo).port, protocol: "h2c" },
  });
  const session = connectHttp2(stage.url);
  const hash = createHash("sha256");
  const size = sizeOver({}) / 4;
  const grown = await growth(async () => {
    const stream = session.request({ ":method": "POST", ":path": "/" });
    void fill(stream, size);
    for await (const data of stream) hash.update(data as Buffer);
  });
  expect(hash.digest("hex")).toBe(digestOf(size));
  expect(grown).toBeLessThan(96 * MiB);
  session.destroy();
  server.close();
});

describe.each(transports())("streams %s", (_name, transport) => {
  describe("a reader that does not read", () => {
    test("of an answer stops the upstream, and gets the rest when it reads", async () => {
      let written = 0;
      const size = 64 * MiB;
      await using upstream = await HttpUpstream.start((_request, response) => {
        response.writeHead(200, { "content-length": size });
        const write = (): void => {
          while (written < size) {
            written += part.length;
            if (!response.write(part)) {
              response.once("drain", write);
              return;
            }
          }
          response.end();
        };
        write();
      }, transport);
      await using stage = await Stage.start({ origin: upstream.origin });
      const client = await Wire.to(stage.port);
      client.socket.removeAllListeners("data");
      client.socket.pause();
      client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      expect(await standstill(() => written)).toBeLessThan(size / 2);
      let received = 0;
      client.socket.on("data", (data) => (received += data.length));
      client.socket.resume();
      await eventually(() => expect(received).toBeGreaterThan(size), 10_000);
      client.socket.destroy();
      await stage.settled();
    });

    test("of a request's body stops the client", async () => {
      await using upstream = await WireServer.start(transport);
      await using stage = await Stage.start({ origin: upstream.origin });
      const client = await Wire.to(stage.port);
      const size = 64 * MiB;
      client.send(`PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\n`);
      const up = await upstream.next();
      await up.until("\r\n\r\n");
      up.socket.pause();
      let sent = 0;
      const write = (): void => {
        while (sent < size) {
          sent += part.length;
          if (!client.socket.write(part)) {
            client.socket.once("drain", write);
            return;
          }
        }
      };
      write();
      expect(await standstill(() => sent)).toBeLessThan(size / 2);
      client.socket.destroy();
      up.socket.resume();
      await up.end();
      await stage.settled();
    });
  });

  test("forwards server-sent events one by one, the head before the first", async () => {
    await using upstream = await WireServer.start(transport);
    await using stage = await Stage.start({ origin: upstream.origin });
    const client = await Wire.to(stage.port);
    client.send("GET /events HTTP/1.1\r\nhost: a\r\naccept: text/event-stream\r\n\r\n");
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    await client.until("content-type: text/event-stream\r\n");
    const delays: number[] = [];
    for (let event = 0; event < 20; event++) {
      const began = performance.now();
      up.send(`d\r\ndata: ${String(event).padStart(5, "0")}\n\n\r\n`);
      await client.until(`data: ${String(event).padStart(5, "0")}\n\n`);
      delays.push(performance.now() - began);
    }
    // The best of twenty shows that nothing waits for more to come; a busy machine may delay any one of them.
    expect(Math.min(...delays)).toBeLessThan(20);
    client.socket.destroy();
  });

  test("takes a request that comes byte by byte, and an answer that does", async () => {
    await using upstream = await WireServer.start(transport);
    await using stage = await Stage.start({ origin: upstream.origin });
    const client = await Wire.to(stage.port);
    for (const byte of "POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc") {
      client.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const up = await upstream.next();
    await up.until("\r\n\r\nabc");
    for (const byte of "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nx-a: b\r\n\r\n2\r\nhi\r\n0\r\nx-t: 1\r\n\r\n") {
      up.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [head, ...rest] = (await client.until("x-t: 1\r\n\r\n")).split("\r\n\r\n");
    expect(head).toContain("\r\nx-a: b");
    expect(rest.join("\r\n\r\n").replaceAll(/(^|\r\n)[0-2]\r\n/g, "|")).toMatch(/^\|(hi|h\|i)\|x-t: 1/);
    client.socket.destroy();
  });
});
