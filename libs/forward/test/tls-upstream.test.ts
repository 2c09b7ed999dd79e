import { once } from "node:events";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Origin, OriginTls } from "../src/index.ts";
import { Authority, type Pair } from "./parts/authority.ts";
import { Stage } from "./parts/stage.ts";
import { Wire } from "./parts/wire.ts";

const asks = {
  "a request without a body": "GET /a HTTP/1.1\r\nhost: a.example\r\n\r\n",
  "a request with a body": "POST /a HTTP/1.1\r\nhost: a.example\r\ncontent-length: 2\r\n\r\nhi",
  "an upgrade": "GET /a HTTP/1.1\r\nhost: a.example\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n",
};
const ways = Object.entries(asks);

let authority: Authority;
let other: Authority;
let pair: Pair;

beforeAll(() => {
  authority = new Authority();
  other = new Authority();
  pair = authority.issue();
});
afterAll(() => {
  authority[Symbol.dispose]();
  other[Symbol.dispose]();
});

/** An upstream that responds with the CN of the client's certificate and the SNI, to upgrades too. */
async function startUpstream() {
  let connections = 0;
  let bytes = 0;
  const server: Server = createServer({
    ...pair,
    ca: [authority.cert],
    requestCert: true,
    rejectUnauthorized: false,
  });
  const who = (socket: TLSSocket) =>
    `${String(socket.getPeerX509Certificate()?.subject.replace("CN=", ""))} ${String(socket.authorized)} ${String(socket.servername)}`;
  server.on("secureConnection", (socket: TLSSocket) => {
    connections += 1;
    socket.on("data", (data: Buffer) => (bytes += data.length));
  });
  server.on("request", (request, response) => response.end(`<${who(request.socket as TLSSocket)}>`));
  server.on("upgrade", (request, socket) => {
    const head = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
    socket.on("error", () => undefined);
    socket.write(`${head}<${who(request.socket as TLSSocket)}>`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: (tls: Partial<OriginTls>, host = "127.0.0.1"): Origin => ({
      host,
      port,
      protocol: "http1",
      tls: { id: "1", ca: authority.cert, ...tls },
    }),
    get connections() {
      return connections;
    },
    get bytes() {
      return bytes;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

describe("an upstream over TLS", () => {
  test.each(ways)("gets %s with the client certificate, and is verified by name and address", async (_way, ask) => {
    await using upstream = await startUpstream();
    const own = authority.issue("proxy");
    const origins = [
      upstream.origin({ id: "none" }),
      upstream.origin({ id: "own", ...own }),
      upstream.origin({ id: "own", ...own, servername: "localhost" }),
      upstream.origin({ id: "own", ...own }, "localhost"),
    ];
    await using stage = await Stage.start({ router: { route: () => ({ origin: origins.shift() as Origin }) } });
    const seen: string[] = [];
    while (origins.length > 0) {
      const client = await Wire.to(stage.port);
      seen.push(/<(.*)>/.exec(await client.send(ask).until(">"))?.[1] ?? "");
      client.socket.destroy();
    }
    expect(seen).toEqual(["undefined false false", "proxy true false", "proxy true localhost", "proxy true localhost"]);
  });

  test.each(ways)("is sent nothing of %s if it cannot be verified", async (_way, ask) => {
    await using upstream = await startUpstream();
    const origins = [
      upstream.origin({ ca: other.cert }),
      upstream.origin({ servername: "other.example" }),
      upstream.origin({ ca: undefined }),
    ];
    const faults: unknown[] = [];
    await using stage = await Stage.start({
      router: {
        route: () => ({ origin: origins[0] as Origin }),
        retry: (_exchange, { kind, error }) => {
          faults.push([kind, (error as { code?: string }).code]);
          return undefined;
        },
      },
    });
    while (origins.length > 0) {
      const client = await Wire.to(stage.port);
      await client.send(ask).until(/^HTTP\/1\.1 502 [^]*evenkeel-error: EK_FORWARD_UNTRUSTED\r\n/);
      client.socket.destroy();
      origins.shift();
    }
    expect(faults).toEqual([
      ["connect", "SELF_SIGNED_CERT_IN_CHAIN"],
      ["connect", "ERR_TLS_CERT_ALTNAME_INVALID"],
      ["connect", "SELF_SIGNED_CERT_IN_CHAIN"],
    ]);
    expect(upstream.bytes).toBe(0);
    await stage.settled({ exchanges: 0, timers: 0, upstreamSockets: 0 });
  });

  test("that is silent in the handshake is given up after the connect deadline", async () => {
    const silent = createTcpServer((socket) => void socket.on("error", () => undefined).resume());
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    await using stage = await Stage.start({
      origin: { host: "127.0.0.1", port, protocol: "http1", tls: { id: "1", ca: authority.cert } },
      deadlines: { connect: 100 },
      limits: { tries: 1 },
    });
    for (const [, ask] of ways) {
      const client = await Wire.to(stage.port);
      await client.send(ask).until(/^HTTP\/1\.1 503 [^]*EK_FORWARD_UNREACHABLE/);
      client.socket.destroy();
    }
    await stage.settled();
    silent.close();
  });

  test("with unusable material is refused with a code, and so is h2c with TLS", async () => {
    const origins: Origin[] = [
      { host: "127.0.0.1", port: 1, protocol: "http1", tls: { id: "1", cert: pair.cert, key: "no key" } },
      { host: "127.0.0.1", port: 1, protocol: "h2c", tls: { id: "1" } },
    ];
    await using stage = await Stage.start({ router: { route: () => ({ origin: origins.shift() as Origin }) } });
    for (const ask of [asks["a request without a body"], asks["a request with a body"]]) {
      const client = await Wire.to(stage.port);
      await client.send(ask).until(/^HTTP\/1\.1 500 [^]*EK_FORWARD_BAD_TLS_MATERIAL/);
      client.socket.destroy();
    }
    await stage.settled();
  });

  test("keeps its connections for requests with other Hosts", async () => {
    await using upstream = await startUpstream();
    const origin = upstream.origin({});
    await using stage = await Stage.start({ origin });
    const client = await Wire.to(stage.port);
    for (const host of ["a.example", "b.example", "c.example"]) {
      client.clear();
      await client.send(`GET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`).until(">");
    }
    expect(upstream.connections).toBe(1);
    client.socket.destroy();
  });

  test("gets new connections for renewed material, while what runs on the old ones goes on", async () => {
    await using upstream = await startUpstream();
    let origin = upstream.origin({ id: "1", ...authority.issue("first") });
    await using stage = await Stage.start({ router: { route: () => ({ origin }) }, limits: { upstreamIdle: 300 } });
    const before = origin;
    const tunnel = await Wire.to(stage.port);
    await tunnel.send(asks["an upgrade"]).until("<first true false>");
    const client = await Wire.to(stage.port);
    await client.send(asks["a request without a body"]).until("<first true false>");
    origin = upstream.origin({ id: "2", ...authority.issue("second") });
    client.clear();
    await client.send(asks["a request without a body"]).until("<second true false>");
    client.clear();
    await client.send(asks["a request with a body"]).until("<second true false>");
    expect([stage.forwarder.inFlight(before), stage.forwarder.inFlight(origin)]).toEqual([1, 0]);
    // The idle connection of the first material ends; the tunnel does not.
    await stage.settled({ origins: 1, upstreamSockets: 1 });
    expect(tunnel.ended).toBe(false);
    tunnel.socket.destroy();
    await stage.settled({ tunnels: 0, origins: 0, upstreamSockets: 0, timers: 0 });
    client.socket.destroy();
  });
});
