import { once } from "node:events";
import { request } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { afterEach, describe, expect, test } from "@jest/globals";
import { GateWorld, HOST, KEY, routeOf } from "./gate-world.ts";
import { endpointOf, freePort, podAddress } from "./pod-server.ts";

/** One Service gets 224 connections of clients, so twice as many descriptors are more than there are. */
const LIMIT = 400;
const CLIENTS = 250;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A pod that accepts connections and never answers. */
async function silentPod() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  const endpoint = endpointOf(await podAddress(), await freePort());
  server.listen(endpoint.ports["http"], endpoint.address);
  await once(server, "listening");
  ends.push(
    () => void server.close(),
    () => sockets.forEach((socket) => socket.destroy()),
  );
  return { endpoint, sockets };
}

/** Clients that send `bytes` on a connection each. Resolves with the accepted ones when all others are refused. */
async function clients(world: GateWorld, port: number, bytes: string) {
  const refused = new Set<Socket>();
  for (let client = 0; client < CLIENTS; client++) {
    const socket = connect(port, HOST);
    for (const event of ["error", "data", "close"]) socket.on(event, () => refused.add(socket));
    socket.write(bytes);
    ends.push(() => socket.destroy());
  }
  const accepted = () => world.gate.activity(KEY).pending + world.gate.activity(KEY).inFlight;
  await eventually(() => accepted() + refused.size === CLIENTS);
  return accepted();
}

const descriptors = ({ gate }: GateWorld) => {
  const { clientSockets, upstreamSockets } = gate.forwarder.counts();
  return clientSockets + upstreamSockets;
};

describe.each([
  ["connections that are not HTTP", "*1\r\n$4\r\nPING\r\n"],
  ["upgrades", "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"],
])("%s", (_what, bytes) => {
  test("that wait have a file descriptor left for the connection to the pod of each", async () => {
    await using world = await GateWorld.start({ descriptorLimit: LIMIT });
    const pod = await silentPod();
    const port = await world.put();
    const held = await clients(world, port, bytes);
    expect(held).toBeGreaterThan(0);
    world.gate.endpoints(KEY, [pod.endpoint]);
    await eventually(() => pod.sockets.length === held);
    expect(descriptors(world)).toBeLessThan(LIMIT);
  });

  test("that go straight to a pod are refused before there are none", async () => {
    await using world = await GateWorld.start({ descriptorLimit: LIMIT });
    const pod = await silentPod();
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint]);
    const accepted = await clients(world, port, bytes);
    expect(accepted).toBeGreaterThan(0);
    expect(descriptors(world)).toBeLessThan(LIMIT);
  });
});

test("requests that go straight to a pod get 503 before there are none", async () => {
  await using world = await GateWorld.start({ descriptorLimit: LIMIT });
  const pod = await silentPod();
  const port = await world.put();
  world.gate.endpoints(KEY, [pod.endpoint]);
  const codes: (string | undefined)[] = [];
  let closed = 0;
  for (let client = 0; client < CLIENTS; client++) {
    const sent = request({ host: HOST, port, agent: false });
    sent.on("response", ({ headers }) => codes.push(headers["evenkeel-error"] as string | undefined));
    sent.on("error", () => (closed += 1));
    sent.end();
    ends.push(() => sent.destroy());
  }
  await eventually(() => world.gate.activity(KEY).inFlight + codes.length + closed === CLIENTS);
  expect(new Set(codes)).toEqual(new Set(["EK_RESOLVER_NO_DESCRIPTORS"]));
  expect(descriptors(world)).toBeLessThan(LIMIT);
});

test("all ports of a Service together get two thirds of the connections", async () => {
  await using world = await GateWorld.start({ descriptorLimit: LIMIT });
  const listens = [await freePort(), await freePort()];
  const ports = listens.map((listen, index) => ({ name: `p${index}`, port: 80 + index, listen }));
  await world.gate.put(routeOf(KEY, null, { ports }));
  let closed = 0;
  for (const port of listens) {
    for (let client = 0; client < CLIENTS; client++) {
      const socket = connect(port, HOST);
      socket.on("error", () => undefined).on("close", () => (closed += 1));
      ends.push(() => socket.destroy());
    }
  }
  const { forwarder } = world.gate;
  await eventually(() => forwarder.counts().clientSockets + closed === 2 * CLIENTS);
  expect(forwarder.counts().clientSockets).toBe(224);
});
