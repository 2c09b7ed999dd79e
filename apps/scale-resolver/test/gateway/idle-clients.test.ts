import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { GateWorld, HOST, KEY } from "./gate-world.ts";

const OTHER = "shop/payments";
/** Of 148 descriptors, 64 are for pods, watches and listeners whatever clients do. */
const LIMIT = 148;
const MOST = 84;

test("connections of clients never use the file descriptors that are reserved for pods", async () => {
  await using world = await GateWorld.start({ descriptorLimit: LIMIT });
  const ports = [await world.put(KEY), await world.put(OTHER)];
  const sockets: Socket[] = [];
  let closed = 0;
  for (const port of ports) {
    for (let client = 0; client < 60; client++) {
      const socket = connect({ host: HOST, port });
      socket.on("error", () => undefined);
      socket.on("close", () => (closed += 1));
      sockets.push(socket);
      await once(socket, "connect");
    }
  }
  await eventually(() => closed === sockets.length - MOST);
  expect(world.gate.forwarder.counts().clientSockets).toBe(MOST);
  for (const socket of sockets) socket.destroy();
});
