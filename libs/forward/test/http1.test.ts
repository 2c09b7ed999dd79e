import { request as httpRequest } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { transports } from "./parts/transport.ts";
import { Wire, WireServer } from "./parts/wire.ts";

describe.each(transports())("an upstream of HTTP/1.1 %s", (_name, transport) => {
  /** A wire upstream, the forwarder before it, and a client's wire. */
  async function scene(options: ConstructorParameters<typeof Stage>[0] = {}) {
    const upstream = await WireServer.start(transport);
    const { origin } = upstream;
    const stage = await Stage.start({ origin, ...options });
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

  const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

  test("carries a chunked answer with its trailers", async () => {
    await using s = await scene();
    s.client.send(GET);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send(
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 7\r\n\r\n",
    );
    const answer = await s.client.until("x-sum: 7\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain("trailer: x-sum\r\n");
    expect(answer).toContain("\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 7\r\n\r\n");
    await s.stage.settled();
  });

  test("carries a chunked request with its trailers, and its head before its body", async () => {
    await using s = await scene();
    s.client.send("POST /up HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n");
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    expect(up.received).toContain("transfer-encoding: chunked\r\n");
    s.client.send("3\r\nabc\r\n").send("0\r\nx-sum: 9\r\n\r\n");
    await up.until("3\r\nabc\r\n0\r\nx-sum: 9\r\n\r\n");
    up.send("HTTP/1.1 204 No Content\r\n\r\n");
    await s.client.until("204 No Content");
    await s.stage.settled();
  });

  test("gives an early answer while the body is still coming, and takes the next request once it has ended", async () => {
    await using s = await scene();
    s.client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n12345");
    const up = await s.upstream.next();
    await up.until("12345");
    up.send("HTTP/1.1 413 Payload Too Large\r\ncontent-length: 3\r\n\r\nno!");
    await s.client.until("no!");
    await up.end();
    s.client.clear();
    s.client.send(`67890${GET}`);
    const second = await s.upstream.next();
    await second.until("\r\n\r\n");
    second.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    await s.client.until("\r\n\r\nok");
    await s.stage.settled();
  });

  test("closes the connection of a client that goes on sending a body nobody wants", async () => {
    await using s = await scene();
    s.client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10000000\r\n\r\n12345");
    const up = await s.upstream.next();
    await up.until("12345");
    up.send("HTTP/1.1 413 Payload Too Large\r\ncontent-length: 3\r\n\r\nno!");
    expect(await s.client.end()).toContain("no!");
    await s.stage.settled();
  });

  test.each([
    ["HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\n", "content-length: 5"],
    ["GET", "HTTP/1.1 204 No Content\r\nx-a: 1\r\n\r\n", "x-a: 1"],
    ["GET", 'HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n', 'etag: "a"'],
  ])(
    "ends an answer to %s that has no body where its head ends, and keeps both connections: %s",
    async (method, head, header) => {
      await using s = await scene();
      s.client.send(`${method} / HTTP/1.1\r\nhost: a\r\n\r\n`);
      const up = await s.upstream.next();
      await up.until("\r\n\r\n");
      up.send(head);
      const answer = await s.client.until("\r\n\r\n");
      expect(answer).toContain(`${header}\r\n`);
      expect(answer).not.toContain("transfer-encoding");
      await s.stage.settled();
      s.client.clear();
      up.clear();
      s.client.send("GET /two HTTP/1.1\r\nhost: a\r\n\r\n");
      await up.until("GET /two ");
      up.send("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\ntwo");
      expect(await s.client.until("two")).toMatch(/^HTTP\/1\.1 200 OK/);
    },
  );

  test("passes interim answers on, the early hints before the answer", async () => {
    await using s = await scene();
    s.client.send(GET);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n");
    await s.client.until("HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n");
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx");
    await s.client.until(/103[^]*HTTP\/1\.1 200 OK[^]*\r\n\r\nx$/);
  });

  test("spares a client of HTTP/1.0 interim answers and chunks, and ends its body with the connection", async () => {
    await using s = await scene();
    s.client.send("GET / HTTP/1.0\r\nhost: a\r\n\r\n");
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send(
      "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    );
    const answer = await s.client.end();
    expect(answer).not.toContain("103");
    expect(answer).not.toMatch(/transfer-encoding/i);
    expect(answer.endsWith("\r\n\r\nab")).toBe(true);
  });

  test("withholds 100 Continue until the upstream takes the body", async () => {
    await using s = await scene({ deadlines: { expect: 0 } });
    s.client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    const up = await s.upstream.next();
    expect(await up.until("\r\n\r\n")).toContain("expect: 100-continue\r\n");
    expect(s.client.received).toBe("");
    up.send("HTTP/1.1 100 Continue\r\n\r\n");
    await s.client.until("HTTP/1.1 100 Continue\r\n\r\n");
    s.client.send("body");
    await up.until("\r\n\r\nbody");
    up.send("HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n");
    await s.client.until("201 Created");
    await s.stage.settled();
  });

  test("reads no body that was expected if the upstream refuses it", async () => {
    await using s = await scene({ deadlines: { expect: 0 } });
    s.client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno");
    const answer = await s.client.end();
    expect(answer).toMatch(/^HTTP\/1\.1 401 Unauthorized/);
    expect(answer).toMatch(/connection: close/i);
    await up.end();
    await s.stage.settled();
  });

  test("asks for the body itself when the upstream says nothing to an expectation", async () => {
    await using s = await scene({ deadlines: { expect: 50 } });
    s.client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    const up = await s.upstream.next();
    await s.client.until("100 Continue");
    s.client.send("body");
    await up.until("\r\n\r\nbody");
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    await s.client.until("200 OK");
  });

  test("answers pipelined requests in order, and sends each on only after the answer before it", async () => {
    const events: string[] = [];
    await using upstream = await HttpUpstream.start((request, response) => {
      events.push(`${request.method} ${request.url}`);
      request.resume();
      setTimeout(() => {
        events.push(`answer ${request.url}`);
        response.end(request.url);
      }, 10);
    }, transport);
    await using stage = await Stage.start({ origin: upstream.origin });
    const client = await Wire.to(stage.port);
    const post = "POST /2 HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc";
    client.send(`GET /1 HTTP/1.1\r\nhost: a\r\n\r\n${post}GET /3 HTTP/1.1\r\nhost: a\r\n\r\n`);
    await client.until(/\r\n\r\n\/1HTTP[^]*\r\n\r\n\/2HTTP[^]*\r\n\r\n\/3$/);
    expect(events).toEqual(["GET /1", "answer /1", "POST /2", "answer /2", "GET /3", "answer /3"]);
    client.socket.destroy();
    await stage.settled();
  });

  test("drops pipelined requests if their client disconnects before they are routed", async () => {
    await using s = await scene();
    s.client.send(`${GET}${GET}${GET}`);
    await (await s.upstream.next()).until("\r\n\r\n");
    s.client.socket.destroy();
    await s.stage.settled();
    expect(s.upstream.wires).toHaveLength(1);
  });

  test("keeps a client's connection after an upstream failed, and uses it again", async () => {
    await using s = await scene({ limits: { tries: 1 } });
    s.client.send(GET);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.socket.destroy();
    expect(await s.client.until("EK_FORWARD_BROKEN:")).toMatch(/^HTTP\/1\.1 502 /);
    s.client.clear();
    s.client.send(GET);
    const second = await s.upstream.next();
    await second.until("\r\n\r\n");
    second.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    expect(await s.client.until("ok")).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test("uses an upstream connection for several requests, and a client's too", async () => {
    let connections = 0;
    await using upstream = await HttpUpstream.start((_request, response) => response.end("ok"), transport);
    upstream.server.on("connection", () => (connections += 1));
    await using stage = await Stage.start({ origin: upstream.origin });
    const client = await Wire.to(stage.port);
    for (let round = 0; round < 20; round++) {
      client.clear();
      client.send(GET);
      await client.until("\r\n\r\nok");
    }
    expect([connections, stage.forwarder.counts().clientSockets]).toEqual([1, 1]);
    client.socket.destroy();
  });

  test("takes an upstream's answer that ends with its connection", async () => {
    await using s = await scene();
    s.client.send(GET);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.0 200 OK\r\n\r\nall of it");
    up.socket.end();
    await s.client.until("\r\n9\r\nall of it\r\n0\r\n\r\n");
  });

  test("treats a client that ends its side as disconnected, because its end looks like a close", async () => {
    await using s = await scene();
    s.client.send(GET);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    s.client.socket.end();
    await up.end();
    await s.stage.settled();
  });

  test("drops what belongs to one connection in both directions, and what Connection names", async () => {
    await using s = await scene();
    s.client.send(
      "GET / HTTP/1.1\r\nhost: a\r\nconnection: close, x-mine\r\nx-mine: 1\r\nkeep-alive: 5\r\nproxy-authorization: secret\r\n" +
        "te: trailers, gzip\r\nproxy-connection: close\r\nx-kept: 1\r\n\r\n",
    );
    const up = await s.upstream.next();
    const asked = await up.until("\r\n\r\n");
    expect(asked).toContain("\r\nx-kept: 1\r\n");
    expect(asked).toContain("\r\nte: trailers\r\n");
    expect(asked).not.toMatch(/x-mine|keep-alive:|proxy-|gzip/);
    up.send(
      "HTTP/1.1 200 OK\r\nconnection: x-theirs\r\nx-theirs: 1\r\nproxy-authenticate: Basic\r\nx-kept: 2\r\ncontent-length: 0\r\n\r\n",
    );
    const answer = await s.client.until("\r\n\r\n");
    expect(answer).toContain("\r\nx-kept: 2\r\n");
    expect(answer).not.toMatch(/x-theirs|proxy-/);
  });

  test("adds its own hop to what earlier proxies wrote, and keeps the trace", async () => {
    await using s = await scene();
    const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    s.client.send(
      `GET / HTTP/1.1\r\nhost: shop.example:8080\r\nx-forwarded-for: 203.0.113.7\r\nx-forwarded-proto: https\r\nvia: 1.1 edge\r\ntraceparent: ${trace}\r\n\r\n`,
    );
    const asked = await (await s.upstream.next()).until("\r\n\r\n");
    for (const line of [
      "host: shop.example:8080",
      "x-forwarded-for: 203.0.113.7, 127.0.0.1",
      "x-forwarded-proto: https",
      "x-forwarded-host: shop.example:8080",
      'forwarded: for=127.0.0.1;host="shop.example:8080";proto=http',
      "via: 1.1 edge, 1.1 evenkeel",
      `traceparent: ${trace}`,
    ]) {
      expect(asked).toContain(`\r\n${line}\r\n`);
    }
  });

  test("replaces headers, host and path as the route says, and adds to the answer", async () => {
    await using s = await scene();
    const { origin } = s.upstream;
    await using stage = await Stage.start({
      router: {
        route: () => ({
          origin,
          host: "inner",
          path: "/inner?x=1",
          headers: ["authorization", "Bearer ours", "x-forwarded-for", "10.0.0.1"],
          answerHeaders: ["x-served-by", "us"],
        }),
      },
    });
    const client = await Wire.to(stage.port);
    client.send("GET /outer HTTP/1.1\r\nhost: a\r\nauthorization: Bearer theirs\r\n\r\n");
    const up = await s.upstream.next();
    const asked = await up.until("\r\n\r\n");
    expect(asked).toMatch(/^GET \/inner\?x=1 HTTP\/1\.1\r\nhost: inner\r\n/);
    expect(asked.match(/authorization: .*/g)).toEqual(["authorization: Bearer ours"]);
    expect(asked.match(/x-forwarded-for: .*/g)).toEqual(["x-forwarded-for: 10.0.0.1"]);
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    expect(await client.until("\r\n\r\n")).toContain("x-served-by: us\r\n");
    client.socket.destroy();
  });

  test("refuses headers over the limit with 431 and ends the connection", async () => {
    await using s = await scene({ limits: { headBytes: 8 * 1024 } });
    s.client.send(`GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(9 * 1024)}\r\n\r\n`);
    const answer = await s.client.end();
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain("EK_FORWARD_HEAD_TOO_LARGE");
    expect(s.upstream.wires).toEqual([]);
  });

  test("forwards more headers than Node counts by default", async () => {
    await using s = await scene({ limits: { headBytes: 64 * 1024 } });
    const many = Array.from({ length: 3_000 }, (_, index) => `x-${index}: 1\r\n`).join("");
    s.client.send(`GET / HTTP/1.1\r\nhost: a\r\n${many}\r\n`);
    const asked = await (await s.upstream.next()).until("\r\n\r\n");
    expect(asked.match(/\r\nx-\d+: 1(?=\r\n)/g)).toHaveLength(3_000);
  });

  test("answers 502 when the upstream's head is over the limit, or no HTTP", async () => {
    for (const [bytes, code] of [
      [`HTTP/1.1 200 OK\r\nx: ${"y".repeat(80 * 1024)}\r\n\r\n`, "EK_FORWARD_BAD_ANSWER"],
      ["SSH-2.0-OpenSSH_9.6\r\n", "EK_FORWARD_BAD_ANSWER"],
    ] as const) {
      await using s = await scene({ limits: { tries: 1 } });
      s.client.send(GET);
      const up = await s.upstream.next();
      await up.until("\r\n\r\n");
      up.send(bytes);
      const answer = await s.client.until("\n");
      expect(answer).toMatch(/^HTTP\/1\.1 502 /);
      await s.client.until(code);
    }
  });

  test("closes a connection that sends no request in time", async () => {
    await using s = await scene({ limits: { headTime: 200 } });
    const slow = await Wire.to(s.stage.port);
    slow.send("GET / HT");
    await s.client.end();
    expect(await slow.end()).toMatch(/^HTTP\/1\.1 408 |^$/);
  });

  test("ends the client's connection after an answer when the router asks for it", async () => {
    await using upstream = await HttpUpstream.start((_request, response) => response.end("ok"), transport);
    await using stage = await Stage.start({
      router: {
        route: (exchange) => {
          exchange.closeAfter();
          return { origin: upstream.origin };
        },
      },
    });
    const client = await Wire.to(stage.port);
    client.send(GET);
    expect(await client.end()).toMatch(/connection: close/i);
  });

  test("forwards OPTIONS * and targets with scheme and host", async () => {
    await using s = await scene();
    s.client.send("OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n");
    const up = await s.upstream.next();
    await up.until(/^OPTIONS \* HTTP\/1\.1\r\nhost: a\r\n[^]*\r\n\r\n/);
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    await s.client.until("200 OK");
    s.client.send("GET http://b.example/x?y HTTP/1.1\r\nhost: a\r\n\r\n");
    const second = await s.upstream.next();
    await second.until(/^GET \/x\?y HTTP\/1\.1\r\nhost: b\.example\r\n/);
  });

  test("lets node's own client through with a body of unknown length", async () => {
    await using upstream = await HttpUpstream.start((request, response) => request.pipe(response), transport);
    await using stage = await Stage.start({ origin: upstream.origin });
    const answer = await new Promise<string>((resolve, reject) => {
      const asked = httpRequest({ port: stage.port, method: "POST" }, (response) => {
        let text = "";
        response.on("data", (data: Buffer) => (text += data.toString()));
        response.on("end", () => resolve(text));
      });
      asked.on("error", reject);
      asked.write("one ");
      setImmediate(() => asked.end("two"));
    });
    expect(answer).toBe("one two");
  });

  test.each([
    ["CONNECT", "CONNECT b:443 HTTP/1.1\r\nhost: b:443\r\n\r\n"],
    ["bytes that are no HTTP", "\0\0\0\0\r\n\r\n"],
  ])("%s behind an answer that has begun break it off, and write nothing into it", async (_what, bytes) => {
    await using s = await scene();
    s.client.send(GET);
    const up = await s.upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello");
    await s.client.until("hello");
    s.client.send(bytes);
    expect(await s.client.end()).toMatch(/\r\n\r\nhello$/);
    await up.end();
    await s.stage.settled();
  });

  test("reports an answer once, with its head, and the end when all of it is written", async () => {
    await using upstream = await WireServer.start(transport);
    const { origin } = upstream;
    const told: string[] = [];
    const forward = {
      origin,
      answering: () => told.push("answering"),
      settled: ({ end }: { readonly end: string }) => told.push(end),
    };
    await using stage = await Stage.start({ router: { route: () => forward } });
    const client = await Wire.to(stage.port);
    client.send(GET);
    const up = await upstream.next();
    await up.until("\r\n\r\n");
    up.send("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
    await client.until("Early Hints");
    expect(told).toEqual([]);
    up.send("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc");
    await client.until("abc");
    expect(told).toEqual(["answering"]);
    up.send("def");
    await client.until("abcdef");
    await stage.settled();
    expect(told).toEqual(["answering", "answered"]);
  });
});
