import { createHash } from "node:crypto";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import type { Destination, Exchange } from "../src/index.ts";
import type { ForwardLimits } from "../src/limits.ts";
import { standstill } from "./parts/standstill.ts";
import { Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
/** A client is read until it fills the buffer of a socket, by the last read at most twice. */
const BUFFER = 64 * KIBIBYTE;

const FIRST = Buffer.alloc(10_000, "*");
/** Each part of it is different, so a lost or moved one changes its hash. */
const NUMBERS = Buffer.from(Uint32Array.from({ length: MEBIBYTE / 4 }, (_, index) => index + 1).buffer);

/** A forwarder that holds connections until `release`, for what they have sent so far. */
async function holding(limits: Partial<ForwardLimits> = {}) {
  const held: Exchange[] = [];
  let released = Promise.withResolvers<Destination>();
  const route = (exchange: Exchange) => (held.push(exchange), released.promise);
  const stage = await Stage.start({ router: { route }, opaque: () => "unlessHttp", limits });
  const release = (destination: Destination) => {
    released.resolve(destination);
    released = Promise.withResolvers();
  };
  return { stage, held, release, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() };
}

type Scene = Awaited<ReturnType<typeof holding>>;

/** Clients that send a part each until all are held, and then `rest` and their end. */
async function senders(scene: Scene, count: number, rest: Buffer, port = scene.stage.port): Promise<Socket[]> {
  const before = scene.held.length;
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) socket.on("error", () => undefined).write(FIRST);
  await eventually(() => scene.held.length - before === count);
  for (const socket of sockets) socket.end(rest);
  return sockets;
}

async function sendInParts(client: Wire, text: string): Promise<void> {
  for (let at = 0; at < text.length; at += 100) {
    client.send(text.slice(at, at + 100));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("clients that send 1 MiB while they are held", () => {
  test("are read until a buffer is full, and nothing of it is lost or reordered", async () => {
    const hashes: string[] = [];
    const server = createServer((socket) => {
      const hash = createHash("sha256");
      socket.on("data", (data) => hash.update(data)).on("end", () => hashes.push(hash.digest("hex")));
    }).listen(0, "127.0.0.1");
    using open = new DisposableStack();
    open.defer(() => server.close());
    await using scene = await holding();
    const before = process.memoryUsage().arrayBuffers;
    await senders(scene, 50, NUMBERS);
    const buffered = (await standstill(() => process.memoryUsage().arrayBuffers)) - before;
    expect(buffered).toBeGreaterThan(50 * BUFFER);
    expect(buffered).toBeLessThan(50 * 2 * BUFFER);
    const { port } = server.address() as AddressInfo;
    scene.release({ origin: { host: "127.0.0.1", port, protocol: "http1" } });
    await eventually(() => hashes.length === 50);
    const hash = createHash("sha256").update(FIRST).update(NUMBERS).digest("hex");
    expect(new Set(hashes)).toEqual(new Set([hash]));
    await scene.stage.settled({ exchanges: 0, tunnels: 0, clientSockets: 0, upstreamSockets: 0, timers: 0 });
  });

  test("are reset beyond the bytes that all together may send, which are free again after them", async () => {
    const earlyBytes = 2 * MEBIBYTE;
    await using scene = await holding({ earlyBytes });
    for (let round = 1; round <= 2; round++) {
      await senders(scene, 100, NUMBERS);
      const kept = await standstill(() => scene.held.filter(({ left }) => !left).length);
      expect(kept).toBeGreaterThanOrEqual(earlyBytes / (2 * BUFFER) - 1);
      expect(kept).toBeLessThanOrEqual(earlyBytes / BUFFER);
      scene.release({ refuse: { status: 503 } });
      await scene.stage.settled({ exchanges: 0, clientSockets: 0 });
      scene.held.length = 0;
    }
  });

  test("are reset if the listeners of their group have used their share, which leaves bytes to another group", async () => {
    const earlyBytes = 2 * MEBIBYTE;
    await using scene = await holding({ earlyBytes, share: 2 });
    const listen = async (group: object) => {
      const options = { name: "one", host: "127.0.0.1", port: 0, opaque: () => "unlessHttp" as const, group };
      return (await scene.stage.forwarder.listen(options)).port;
    };
    const shop = {};
    const kept: number[] = [];
    for (const port of [await listen(shop), await listen(shop), await listen({})]) {
      const before = scene.held.length;
      await senders(scene, 50, NUMBERS, port);
      kept.push(await standstill(() => scene.held.slice(before).filter(({ left }) => !left).length));
    }
    const [first = 0, second = 0, other = 0] = kept;
    // Two thirds of the bytes, and two thirds of what is left.
    expect((first + second) * BUFFER).toBeLessThanOrEqual((2 / 3) * earlyBytes);
    expect(first).toBeGreaterThanOrEqual(Math.floor(((2 / 3) * earlyBytes) / (2 * BUFFER)) - 1);
    expect(other).toBeGreaterThanOrEqual(Math.floor(((2 / 9) * earlyBytes) / (2 * BUFFER)) - 1);
  });

  test("and are reset do not reach the upstream", async () => {
    await using upstream = await WireServer.start();
    await using scene = await holding();
    const [client] = (await senders(scene, 1, NUMBERS)) as [Socket];
    await standstill(() => client.bytesWritten);
    client.resetAndDestroy();
    await eventually(() => client.closed);
    const outcomes: string[] = [];
    scene.release({ origin: upstream.origin, settled: ({ end }) => void outcomes.push(end) });
    await scene.stage.settled({ exchanges: 0, clientSockets: 0, upstreamSockets: 0 });
    expect([outcomes, upstream.wires]).toEqual([["left"], []]);
  });
});

describe("a held client that sends 40 KiB in parts", () => {
  test.each([
    ["ends", (client: Wire) => client.socket.end()],
    ["is reset", (client: Wire) => client.reset()],
  ])("and %s is reported, and does not reach the upstream", async (_name, leave) => {
    await using upstream = await WireServer.start();
    await using scene = await holding();
    const client = await Wire.to(scene.stage.port);
    client.send("*");
    await eventually(() => scene.held.length === 1);
    const [exchange] = scene.held as [Exchange];
    await sendInParts(client, "a".repeat(40 * KIBIBYTE));
    leave(client);
    await eventually(() => exchange.left);
    scene.release({ origin: upstream.origin });
    await scene.stage.settled({ exchanges: 0, clientSockets: 0, upstreamSockets: 0 });
    expect(upstream.wires).toEqual([]);
  });

  test("stays connected, and nothing of it is lost or reordered", async () => {
    await using upstream = await WireServer.start();
    await using scene = await holding();
    const client = await Wire.to(scene.stage.port);
    const text = Array.from({ length: 8 * KIBIBYTE }, (_, index) => `${1000 + index} `).join("");
    await sendInParts(client, text);
    scene.release({ origin: upstream.origin });
    const server = await upstream.next();
    expect(await server.until(text.slice(-5))).toBe(text);
    client.socket.destroy();
  });
});

test("clients that send much while their upgrade is held are reset beyond the bytes of all together", async () => {
  const earlyBytes = 2 * MEBIBYTE;
  await using scene = await holding({ earlyBytes });
  const sockets = Array.from({ length: 100 }, () => connect(scene.stage.port, "127.0.0.1"));
  for (const socket of sockets) {
    socket.on("error", () => undefined);
    socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  }
  await eventually(() => scene.held.length === 100);
  for (const socket of sockets) socket.write(NUMBERS);
  const kept = await standstill(() => scene.held.filter(({ left }) => !left).length);
  expect(kept).toBeGreaterThanOrEqual(earlyBytes / (2 * BUFFER) - 1);
  expect(kept).toBeLessThanOrEqual(earlyBytes / BUFFER);
  for (const socket of sockets) socket.destroy();
});
