import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { GateWorld, HOST, KEY } from "./gate-world.ts";

const OTHER = "shop/payments";
/** Of 148 descriptors, 64 are for pods, watches and listeners whatever clients do. */
const LIMIT = 148;
const MOST = 84;
/** Each Service gets at most twice as many as are then free: 56 of 84, and of the remaining 28 the other one 19. */
const SHARES = [56, 19];

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
  const [first = 0, second = 0] = SHARES;
  await eventually(() => closed === sockets.length - first - second);
  const { clientSockets } = world.gate.forwarder.counts();
  expect([world.gate.connections(KEY, 80), world.gate.connections(OTHER, 80)]).toEqual(SHARES);
  expect(clientSockets).toBeLessThanOrEqual(MOST);
  for (const socket of sockets) socket.destroy();
});
