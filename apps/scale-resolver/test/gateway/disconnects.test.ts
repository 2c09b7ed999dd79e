import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { IN_SOAK } from "../soak.ts";
import { starved } from "../starved.ts";
import { ask } from "./ask.ts";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

const CLIENTS = IN_SOAK ? 1000 : 100;
const MIB = 2 ** 20;

const post = (length: number) => `POST /gone HTTP/1.1\r\nhost: a.test\r\ncontent-length: ${length}\r\n\r\n`;

/** Bytes in use after a garbage collection. */
function inUse(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // What the first collection finds dead may have held buffers that the second one frees.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function open(port: number, head: string, body: Buffer): Promise<Socket> {
  const socket = connect(port, HOST);
  socket.on("error", () => undefined);
  socket.on("data", () => undefined);
  await once(socket, "connect");
  socket.write(head);
  if (body.length > 0) socket.write(body);
  return socket;
}

/**
 * Clients that connect, wait until all are held, and disconnect. Returns the milliseconds from the first disconnect
 * until none is pending, without those in which other processes had the CPU.
 */
async function connectAndDisconnect(world: GateWorld, port: number, head: string, body: Buffer): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => open(port, head, body)));
  await eventually(() => world.gate.activity(KEY).pending === CLIENTS, 60_000);
  const began = performance.now();
  const before = starved();
  for (const [index, socket] of sockets.entries()) {
    if (index % 2 === 0) socket.destroy();
    else socket.resetAndDestroy();
  }
  await eventually(() => world.gate.activity(KEY).pending === 0);
  const took = performance.now() - began - (starved() - before);
  await eventually(() => world.gate.forwarder.counts().clientSockets === 0 && sockets.every(({ closed }) => closed));
  return took;
}

/** Whether the metrics, and so the access log, have so many clients that disconnected. Clears the log then. */
async function accounted(world: GateWorld, count: number): Promise<boolean> {
  const left = `evenkeel_resolver_rejected_total{namespace="shop",service="checkout",reason="clientGone"}`;
  if ((await world.sample(left)) !== count) return false;
  world.lines.length = 0;
  return true;
}

const REQUESTS: readonly (readonly [name: string, head: string, length: number])[] = [
  ["GET", "GET /gone HTTP/1.1\r\nhost: a.test\r\n\r\n", 0],
  ["POST of 1 MB", post(1_000_000), 1_000_000],
  ...(IN_SOAK ? [["POST of 1 KB", post(1024), 1024] as const] : []),
];

test.each(REQUESTS)(
  `${CLIENTS} clients that disconnect with their %s held are forgotten within 1.5 s, release their memory, and are not forwarded`,
  async (_name, head, length) => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    const body = Buffer.alloc(length, "x");
    // What the first clients allocate is reused.
    await connectAndDisconnect(world, port, head, body);
    await eventually(() => accounted(world, CLIENTS));
    const before = inUse();
    expect(await connectAndDisconnect(world, port, head, body)).toBeLessThan(1500);
    await eventually(() => accounted(world, 2 * CLIENTS));
    expect(inUse() - before).toBeLessThan(MIB);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await ask(port, { path: "/last" })).status).toBe(200);
    expect(pod.arrivals.map(({ path }) => path)).toEqual(["/last"]);
    expect(pod.begun).toBe(1);
    // The last client closes its connection when it has its answer, not before.
    await eventually(() => world.gate.forwarder.counts().clientSockets === 0);
    expect(world.gate.forwarder.counts()).toMatchObject({ exchanges: 0, clientSockets: 0, timers: 0 });
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 0, requests: 2 * CLIENTS + 1 });
    await eventually(
      async () => (await world.sample(`evenkeel_resolver_pending{namespace="shop",service="checkout"}`)) === 0,
    );
  },
  120_000,
);
