import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { transports } from "./parts/transport.ts";
import { Wire, WireServer } from "./parts/wire.ts";

describe.each(transports())("an upgrade %s", (_name, transport) => {
  async function scene(options: { readonly allowHalfOpen?: boolean } = {}) {
    const upstream = await WireServer.start(transport, options);
    const { origin } = upstream;
    const stage = await Stage.start({ origin });
    const client = await Wire.to(stage.port, options);
    return {
      upstream,
      stage,
      client,
      origin,
      async [Symbol.asyncDispose]() {
        client.socket.destroy();
        await stage[Symbol.asyncDispose]();
        await upstream[Symbol.asyncDispose]();
      },
    };
  }

  const spdy =
    "POST /exec?command=sh HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: v4.channel.k8s.io\r\ncontent-length: 0\r\n\r\n";
  const switching =
    "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: v4.channel.k8s.io\r\n\r\n";

  /** An upstream that speaks WebSocket as far as an echo of short messages needs it. */
  function echoWebSockets(upstream: HttpUpstream): void {
    upstream.server.on("upgrade", (request, socket) => {
      const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash("sha1").update(key).digest("base64");
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
      );
      let bytes = Buffer.alloc(0);
      socket.on("error", () => undefined);
      socket.on("data", (data: Buffer) => {
        bytes = Buffer.concat([bytes, data]);
        while (bytes.length >= 6 && bytes.length >= 6 + ((bytes[1] as number) & 0x7f)) {
          const length = (bytes[1] as number) & 0x7f;
          const mask = bytes.subarray(2, 6);
          const text = bytes.subarray(6, 6 + length).map((byte, index) => byte ^ (mask[index % 4] as number));
          socket.write(Buffer.concat([Buffer.from([bytes[0] as number, length]), text]));
          // The side that did not begin the closing ends the connection.
          if (((bytes[0] as number) & 0x0f) === 8) socket.end();
          bytes = bytes.subarray(6 + length);
        }
      });
    });
  }

  test("echoes WebSocket messages of Node's own client", async () => {
    await using upstream = await HttpUpstream.start(undefined, transport);
    echoWebSockets(upstream);
    await using stage = await Stage.start({ origin: upstream.origin });
    const socket = new WebSocket(`ws://127.0.0.1:${stage.port}/chat`);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", reject, { once: true });
    });
    const echoed: string[] = [];
    const all = new Promise<void>((resolve) =>
      socket.addEventListener("message", ({ data }) => {
        if (echoed.push(String(data)) === 200) resolve();
      }),
    );
    const sent = Array.from({ length: 200 }, (_, index) => `message ${index}`);
    for (const message of sent) socket.send(message);
    await all;
    expect(echoed).toEqual(sent);
    expect(stage.forwarder.counts()).toMatchObject({ tunnels: 1, exchanges: 1 });
    const closed = new Promise((resolve) => socket.addEventListener("close", resolve, { once: true }));
    socket.close();
    await closed;
    await stage.settled();
  });

  test("carries SPDY, with what either side says in one packet with its head", async () => {
    await using s = await scene();
    s.client.send(`${spdy}first frames`);
    const up = await s.upstream.next();
    const asked = await up.until("\r\n\r\n");
    expect(asked).toMatch(/^POST \/exec\?command=sh HTTP\/1\.1\r\n/);
    expect(asked).toMatch(/\r\nconnection: Upgrade\r\nupgrade: SPDY\/3\.1\r\n/);
    up.send(`${switching}from the pod`);
    const answer = await s.client.until("from the pod");
    expect(await up.until("first frames")).toMatch(/\r\n\r\nfirst frames$/);
    expect(answer).toContain("upgrade: SPDY/3.1\r\nx-stream-protocol-version: v4.channel.k8s.io\r\n");
    s.client.clear();
    s.client.send("\x80\x03\x00\x01");
    await up.until("\x80\x03\x00\x01");
    up.send("\x80\x03\x00\x02");
    await s.client.until("\x80\x03\x00\x02");
  });

  test("passes the end of one direction on and leaves the other open", async () => {
    await using s = await scene({ allowHalfOpen: true });
    s.client.send(spdy);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send(switching);
    await s.client.until("\r\n\r\n");
    s.client.send("all I have");
    s.client.socket.end();
    await up.end();
    expect(up.received).toContain("all I have");
    up.send("and the answer");
    await s.client.until("and the answer");
    up.socket.end();
    await s.client.end();
    await s.stage.settled();
  });

  test("gives the client the answer of an upstream that will not be upgraded", async () => {
    await using s = await scene();
    s.client.send(spdy);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\n\r\nnope");
    const answer = await s.client.end();
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[^]*\r\n\r\nnope$/);
    await s.stage.settled();
  });

  test("refuses an upgrade as the router says, with 503 when nobody is there", async () => {
    await using s = await scene();
    await s.upstream[Symbol.asyncDispose]();
    s.client.send(spdy);
    expect(await s.client.end()).toMatch(/^HTTP\/1\.1 503 [^]*EK_FORWARD_UNREACHABLE/);
    await s.stage.settled();
  });

  test("does not upgrade to HTTP/2, nor a request with a body: both are answered in HTTP/1.1", async () => {
    await using upstream = await HttpUpstream.start((request, response) => {
      expect(request.headers.upgrade).toBeUndefined();
      request.resume().on("end", () => response.end("plain"));
    }, transport);
    await using stage = await Stage.start({ origin: upstream.origin });
    const client = await Wire.to(stage.port);
    client.send(
      "GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n",
    );
    await client.until(/200 OK[^]*plain/);
    client.clear();
    client.send(
      "POST / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\ncontent-length: 3\r\n\r\nabc",
    );
    await client.until(/200 OK[^]*plain/);
    client.socket.destroy();
  });

  test("takes no more from one end of a tunnel than the other takes", async () => {
    await using s = await scene();
    s.client.send(spdy);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send(switching);
    await s.client.until("\r\n\r\n");
    up.socket.pause();
    const part = Buffer.alloc(256 * 1024, 7);
    const { socket } = s.client;
    let sent = 0;
    // What the client can get rid of while nobody reads is what the kernel holds for three sockets, and the buffers of
    // two streams.
    for (let idle = 0; idle < 20 && sent < 512;) {
      if (socket.writableLength < part.length) {
        socket.write(part);
        sent += 1;
        idle = 0;
      } else idle += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(sent).toBeLessThan(256);
    up.socket.removeAllListeners("data");
    let received = 0;
    up.socket.on("data", (data) => (received += data.length));
    up.socket.resume();
    await eventually(() => expect(received).toBe(sent * part.length), 10_000);
  });

  test("an upgrade asked for behind an answer that is still to come is answered in HTTP/1.1, in its turn, and is the last", async () => {
    const seen: string[] = [];
    await using upstream = await HttpUpstream.start((request, response) => {
      seen.push(`${request.url} ${request.headers.upgrade ?? "plain"}`);
      setTimeout(() => response.end(request.url), 20);
    }, transport);
    await using stage = await Stage.start({ origin: upstream.origin });
    const client = await Wire.to(stage.port);
    client.send("GET /1 HTTP/1.1\r\nhost: a\r\n\r\n");
    client.send("GET /2 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    client.send("GET /3 HTTP/1.1\r\nhost: a\r\n\r\n");
    // In another packet, so that the parser sees it.
    setTimeout(() => client.send("GET /4 HTTP/1.1\r\nhost: a\r\n\r\n"), 10);
    expect(await client.end()).toMatch(/\r\n\r\n\/1HTTP[^]*connection: close\r\n\r\n\/2$/i);
    expect(seen).toEqual(["/1 plain", "/2 plain"]);
    await stage.settled();
  });
});
