import dns from "node:dns";
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { loopbackAddresses } from "@evenkeel/testkit";
import { ServerError, Status } from "nice-grpc-common";
import { NotFound } from "../errors.ts";
import { ResolverDefinition, type WatchResponse } from "../generated/evenkeel/resolver/v1/resolver.ts";
import { ExternalScalerDefinition } from "../generated/externalscaler/externalscaler.ts";
import type { Served } from "../server/served.ts";
import { any, resolver, startPeer, startServer } from "../testing/rpc-world.ts";

/** A port on which something else than gRPC listens, until the test's end. */
async function listening(server: Server | Http2Server) {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const dispose = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.dispose]: dispose };
}

describe("an absent peer", () => {
  test("costs one log line and a gauge, fails calls at once, and is connected to when it comes", async () => {
    const before = await startServer([]);
    const port = before.server.port;
    await before.stop();
    using sample = startPeer(`127.0.0.1:${port}`);
    await eventually(() => sample.lines.length > 0);
    const client = sample.peer.client(ResolverDefinition);
    for (let call = 0; call < 5; call++) {
      await expect(client.activity({}, { retry: false })).rejects.toMatchObject({
        code: "EK_RPC_PEER_AWAY",
        recovery: "retryable",
      });
    }
    expect(sample.peer.up).toBe(false);
    expect(await sample.registry.text()).toContain('evenkeel_peer_up{peer="sample"} 0');
    expect(sample.lines).toEqual([expect.objectContaining({ level: "warn", peer: "sample" })]);

    await using back = await startServer([any(resolver())], { port });
    expect(back.server.port).toBe(port);
    await eventually(() => sample.peer.up);
    await expect(client.activity({})).resolves.toEqual({ services: [] });
    expect(await sample.registry.text()).toContain('evenkeel_peer_up{peer="sample"} 1');
    expect(sample.lines.map(({ msg }) => msg).slice(1)).toEqual(["sample is connected"]);
  });

  test.each(["", "host", "host:port", "http://host:80", "host:70000", "unix:/run/x", "::1:80"])(
    "%p is no address",
    (address) => {
      expect(() => startPeer(address)).toThrow(expect.objectContaining({ code: "EK_RPC_BAD_PEER_ADDRESS" }));
    },
  );
});

describe("a slow peer", () => {
  test("is given up at the deadline that every call has, and knows it", async () => {
    const told = Promise.withResolvers<AbortSignal>();
    const activity = (_request: unknown, { signal }: { signal: AbortSignal }) => {
      told.resolve(signal);
      return new Promise<never>(() => undefined);
    };
    await using running = await startServer([any(resolver({ activity }))]);
    using sample = startPeer(running.address, { deadline: 500 });
    const client = sample.peer.client(ResolverDefinition);
    await client.preview({}, { deadline: 10_000 });
    await expect(client.activity({})).rejects.toMatchObject({ code: "EK_RPC_PEER_SLOW" });
    const signal = await told.promise;
    await eventually(() => signal.aborted);
  });

  test("is told the time that is left as a gRPC timeout", async () => {
    const timeouts: (string | undefined)[] = [];
    const http2 = createHttp2Server().on("stream", (stream: ServerHttp2Stream, headers) => {
      timeouts.push(headers["grpc-timeout"] as string | undefined);
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "5" }, { endStream: true });
    });
    using peer = await listening(http2);
    using sample = startPeer(peer.address, { deadline: 700, streamDeadline: 9000 });
    const client = sample.peer.client(ResolverDefinition);
    await expect(client.activity({})).rejects.toMatchObject({ code: "EK_RPC_PEER_REFUSED" });
    await expect(client.activity({}, { deadline: 300 })).rejects.toMatchObject({ code: "EK_RPC_PEER_REFUSED" });
    await expect(client.watch({})[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "EK_RPC_PEER_REFUSED",
    });
    expect(timeouts).toEqual(["700m", "300m", "9000m"]);
  });

  test("that accepts connections and says nothing is given up too", async () => {
    using peer = await listening(createServer());
    using sample = startPeer(peer.address, { deadline: 100 });
    await expect(sample.peer.client(ResolverDefinition).activity({})).rejects.toMatchObject({
      code: "EK_RPC_PEER_SLOW",
    });
    expect(sample.peer.up).toBe(false);
  });
});

describe("retry", () => {
  test("repeats a call without side effects on UNAVAILABLE", async () => {
    let calls = 0;
    const activity = () =>
      ++calls < 3 ? Promise.reject(new ServerError(Status.UNAVAILABLE, "not yet")) : Promise.resolve({});
    await using running = await startServer([any(resolver({ activity }))]);
    using sample = startPeer(running.address);
    await expect(sample.peer.client(ResolverDefinition).activity({})).resolves.toEqual({ services: [] });
    expect(calls).toBe(3);
  });

  test.each([Status.INTERNAL, Status.RESOURCE_EXHAUSTED, Status.ABORTED])(
    "does not repeat on status %d",
    async (status) => {
      let calls = 0;
      const activity = () => (calls++, Promise.reject(new ServerError(status, "no")));
      await using running = await startServer([any(resolver({ activity }))]);
      using sample = startPeer(running.address);
      await expect(sample.peer.client(ResolverDefinition).activity({})).rejects.toThrow();
      expect(calls).toBe(1);
    },
  );

  test("does not repeat a method of which the proto does not say that repeating does no harm", async () => {
    let calls = 0;
    const unavailable = () => (calls++, Promise.reject(new ServerError(Status.UNAVAILABLE, "no")));
    const silent = () => {
      throw new ServerError(Status.UNIMPLEMENTED, "no");
    };
    const service: Served<ExternalScalerDefinition> = {
      definition: ExternalScalerDefinition,
      implementation: {
        isActive: unavailable,
        getMetricSpec: unavailable,
        getMetrics: unavailable,
        streamIsActive: silent,
        streamMetricSpec: silent,
      },
      access: {
        isActive: "anyone",
        getMetricSpec: "anyone",
        getMetrics: "anyone",
        streamIsActive: "anyone",
        streamMetricSpec: "anyone",
      },
    };
    await using running = await startServer([any(service)]);
    using sample = startPeer(running.address);
    await expect(sample.peer.client(ExternalScalerDefinition).isActive({})).rejects.toMatchObject({
      code: "EK_RPC_PEER_AWAY",
    });
    expect(calls).toBe(1);
  });
});

test("a peer's refusal carries its code and its words", async () => {
  const activity = () => Promise.reject(new NotFound({ what: "service shop/checkout" }));
  await using running = await startServer([any(resolver({ activity }))]);
  using sample = startPeer(running.address);
  const call = sample.peer.client(ResolverDefinition).activity({});
  await expect(call).rejects.toThrow("with NOT_FOUND: EK_RPC_NOT_FOUND: service shop/checkout");
});

test("the token goes with calls that change something and with no other", async () => {
  const tokens: (string | undefined)[] = [];
  const authorizer = {
    authorize: (token: string) => (tokens.push(token), Promise.resolve({ allowed: true as const, user: "planner" })),
  };
  const activity = (_request: unknown, { metadata }: { metadata: { get(key: string): unknown } }) => {
    tokens.push(metadata.get("authorization") as string | undefined);
    return Promise.resolve({});
  };
  await using running = await startServer([any(resolver({ activity }))], { authorizer });
  using sample = startPeer(running.address, { token: () => Promise.resolve("abc.def") });
  const client = sample.peer.client(ResolverDefinition);
  await client.activity({});
  await client.wake({ service: { namespace: "shop", name: "checkout" } });
  expect(tokens).toEqual([undefined, "abc.def"]);
});

test("every address of a name is called in turn", async () => {
  const seen: string[] = [];
  const at = (host: string) => resolver({ activity: () => (seen.push(host), Promise.resolve({})) });
  await using addresses = await loopbackAddresses();
  const hosts = [addresses.next(), addresses.next()] as const;
  await using first = await startServer([any(at(hosts[0]))], { host: hosts[0] });
  const { port } = first.server;
  await using second = await startServer([any(at(hosts[1]))], { host: hosts[1], port });
  // The machine's own names all have one address.
  const { lookup } = dns.promises;
  const twoAddresses = hosts.map((address) => ({ address, family: 4 }));
  dns.promises.lookup = ((name: string, options: object) =>
    name === "peers.example" ? Promise.resolve(twoAddresses) : lookup(name, options)) as typeof lookup;
  try {
    using sample = startPeer(`dns:///peers.example:${port}`);
    const client = sample.peer.client(ResolverDefinition);
    await eventually(async () => {
      await client.activity({});
      return new Set(seen).size === 2;
    });
    seen.length = 0;
    for (let call = 0; call < 6; call++) await client.activity({});
    expect(seen.filter((host) => host === hosts[1])).toHaveLength(3);
    expect(second.server.port).toBe(port);
  } finally {
    dns.promises.lookup = lookup;
  }
});

describe("a hostile peer", () => {
  test("that answers with more than the limit is refused", async () => {
    const activity = () => Promise.resolve({ services: [{ message: "x".repeat(100_000) }] });
    await using running = await startServer([any(resolver({ activity }))]);
    using sample = startPeer(running.address, { maxMessage: 10_000 });
    await expect(sample.peer.client(ResolverDefinition).activity({})).rejects.toMatchObject({
      code: "EK_RPC_PEER_BUSY",
    });
  });

  test("whose stream never ends fills no memory and is left at any time", async () => {
    let sent = 0;
    const watch = async function* (): AsyncGenerator<Partial<WatchResponse>> {
      for (;;) {
        sent += 1;
        yield { event: { $case: "removed", value: { namespace: "x".repeat(10_000), name: "y" } } };
        await Promise.resolve();
      }
    };
    await using running = await startServer([any(resolver({ watch }))]);
    using sample = startPeer(running.address);
    const stream = sample.peer.client(ResolverDefinition).watch({})[Symbol.asyncIterator]();
    await stream.next();
    // As long as nobody reads, the sender comes to a stop.
    let before = -1;
    await eventually(
      () => {
        const stopped = sent === before;
        before = sent;
        return stopped;
      },
      undefined,
      100,
    );
    expect(sent).toBeLessThan(1000);
    await stream.return?.();
    await eventually(async () => (await running.registry.text()).includes('evenkeel_rpc_open_calls{kind="stream"} 0'));
  });

  test.each([
    [
      "bytes that are no HTTP/2",
      createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
      "EK_RPC_PEER_AWAY",
    ],
    [
      "a web page",
      createHttp2Server().on("stream", (stream: ServerHttp2Stream) => {
        stream.respond({ ":status": 200, "content-type": "text/html" });
        stream.end("<h1>It works!</h1>");
      }),
      "EK_RPC_PEER_BUSY",
    ],
    [
      "a message of another type",
      createHttp2Server().on("stream", (stream: ServerHttp2Stream) => {
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.end(Buffer.from([0, 0, 0, 0, 3, 0x0a, 0xff, 0x01]));
      }),
      "EK_RPC_PEER_REFUSED",
    ],
  ])("that answers with %s gives a coded error", async (_name, server, code) => {
    using peer = await listening(server);
    using sample = startPeer(peer.address, { deadline: 3000 });
    await expect(sample.peer.client(ResolverDefinition).activity({}, { retry: false })).rejects.toMatchObject({ code });
  });
});
