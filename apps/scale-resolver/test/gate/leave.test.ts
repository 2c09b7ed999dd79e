import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { ask } from "./ask.ts";
import { GateWorld, HOST, KEY, until } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

const CLIENTS = 1000;
/** Milliseconds of a turn, see below. */
const TURN = 25;

const post = (length: number) => `POST /gone HTTP/1.1\r\nhost: a.test\r\ncontent-length: ${length}\r\n\r\n`;

/** Counts how often a timer of 25 ms has run: time, as far as this process got any on a busy machine. */
function countTurns(): () => number {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), TURN);
  return () => {
    clearInterval(timer);
    return turns;
  };
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

test.each([
  ["GET", "GET /gone HTTP/1.1\r\nhost: a.test\r\n\r\n", 0],
  ["POST of 1 KB", post(1024), 1024],
  ["POST of 1 MB", post(1_000_000), 1_000_000],
])(
  "1,000 clients that leave with their %s held are forgotten within 1.5 s, and none of it is forwarded",
  async (_name, head, length) => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    const body = Buffer.alloc(length, "x");
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => open(port, head, body)));
    await until(() => world.gate.activity(KEY).pending === CLIENTS, 60_000);
    const turns = countTurns();
    for (const [index, socket] of sockets.entries()) {
      if (index % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    await until(() => world.gate.activity(KEY).pending === 0);
    expect(turns()).toBeLessThanOrEqual(1500 / TURN);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await ask(port, { path: "/last" })).status).toBe(200);
    expect(pod.arrivals.map(({ path }) => path)).toEqual(["/last"]);
    expect(pod.begun).toBe(1);
    // The last client closes its connection when it has its answer, not before.
    await until(() => world.gate.door.counts().clientSockets === 0);
    expect(world.gate.door.counts()).toMatchObject({ exchanges: 0, clientSockets: 0, timers: 0 });
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 0, requests: CLIENTS + 1 });
    const rejected = `evenkeel_resolver_rejected_total{namespace="shop",service="checkout",reason="clientGone"}`;
    await until(async () => (await world.sample(rejected)) === CLIENTS);
    await until(
      async () => (await world.sample(`evenkeel_resolver_pending{namespace="shop",service="checkout"}`)) === 0,
    );
  },
  120_000,
);
