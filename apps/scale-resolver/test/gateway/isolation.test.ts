import { connect } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { IN_SOAK } from "../soak.ts";
import { starved } from "../starved.ts";
import { ask } from "./ask.ts";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

const BURSTS = IN_SOAK ? 50 : 10;
const A = "shop/crowded";
const B = "shop/calm";

test(`one Service that overflows does not keep another from waking, and nothing is left over after ${BURSTS} bursts`, async () => {
  await using world = await GateWorld.start();
  await using podA = await PodServer.start();
  await using podB = await PodServer.start();
  const portA = await world.put(A, { hold: { maxPending: 20 } });
  const portB = await world.put(B);
  for (let burst = 0; burst < BURSTS; burst++) {
    const held = Array.from({ length: 20 }, (_, index) => ask(portA, { id: `held ${burst} ${index}` }));
    await eventually(() => world.gate.activity(A).pending === 20);
    const calm = ask(portB, { id: `calm ${burst}` });
    await eventually(() => world.gate.activity(B).pending === 1);
    const surplus = await Promise.all(Array.from({ length: 10 }, () => ask(portA)));
    expect(surplus.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 503));
    expect(surplus.every(({ headers }) => headers["retry-after"] === "3")).toBe(true);
    world.gate.endpoints(B, [podB.endpoint()]);
    expect((await calm).status).toBe(200);
    expect(world.gate.activity(A).pending).toBe(20);
    world.gate.endpoints(A, [podA.endpoint()]);
    for (const { status } of await Promise.all(held)) expect(status).toBe(200);
    world.gate.endpoints(A, []);
    world.gate.endpoints(B, []);
    await eventually(() => world.gate.activity(A).inFlight + world.gate.activity(B).inFlight === 0);
  }
  expect(world.gate.activity(A)).toMatchObject({ pending: 0, inFlight: 0, requests: 30 * BURSTS });
  expect(world.gate.activity(B)).toMatchObject({ pending: 0, inFlight: 0, requests: BURSTS });
  expect([podA.begun, podB.begun]).toEqual([20 * BURSTS, BURSTS]);
  await eventually(() => world.gate.forwarder.counts().clientSockets === 0);
  expect(world.gate.forwarder.counts()).toMatchObject({ exchanges: 0, clientSockets: 0, timers: 0 });
}, 120_000);

test("with a full queue every request gets 503 with Retry-After within 50 ms, while 500 others of the Service wait", async () => {
  await using world = await GateWorld.start();
  await using pod = await PodServer.start();
  const port = await world.put(A, { hold: { maxPending: 500 } });
  const held = Array.from({ length: 500 }, () => ask(port));
  await eventually(() => world.gate.activity(A).pending === 500);
  for (let index = 0; index < 100; index++) {
    const began = performance.now();
    const before = starved();
    const { status, headers } = await ask(port);
    const waited = starved() - before;
    const took = performance.now() - began;
    expect([status, headers["retry-after"]]).toEqual([503, "3"]);
    expect(took - waited).toBeLessThan(50);
  }
  world.gate.endpoints(A, [pod.endpoint()]);
  for (const { status } of await Promise.all(held)) expect(status).toBe(200);
}, 60_000);

test("a Service with more clients than the resolver has connections leaves some for another Service", async () => {
  // 236 connections, of which one Service gets 158.
  await using world = await GateWorld.start({ descriptorLimit: 300 });
  await using pod = await PodServer.start();
  const greedy = await world.put("shop/greedy");
  const port = await world.put();
  world.gate.endpoints(KEY, [pod.endpoint()]);
  const sockets = Array.from({ length: 400 }, () => connect(greedy, HOST));
  let closed = 0;
  for (const socket of sockets) {
    socket.on("error", () => undefined).on("close", () => (closed += 1));
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  }
  await eventually(() => world.gate.activity("shop/greedy").pending + closed === 400);
  expect(world.gate.activity("shop/greedy").pending).toBe(158);
  expect((await ask(port)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test.each([
  ["count", { count: 9, bytes: 2 ** 20 }],
  // Each upload counts with the 64 KiB of its buffer, and the bytes of its head.
  ["bytes", { count: 1000, bytes: 9 * 66_000 }],
])(
  "a Service with more requests than the resolver holds (%s) leaves room for another Service",
  async (_name, overall) => {
    await using world = await GateWorld.start({ overall });
    const pending: number[] = [];
    for (const key of ["shop/greedy", KEY]) {
      const port = await world.put(key);
      const sockets = Array.from({ length: 12 }, () => connect(port, HOST));
      let refused = 0;
      for (const socket of sockets) {
        socket.on("error", () => undefined).on("data", () => (refused += 1));
        socket.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n");
      }
      await eventually(() => world.gate.activity(key).pending + refused === 12);
      pending.push(world.gate.activity(key).pending);
    }
    // Two thirds of 9, and two thirds of the other 3.
    expect(pending).toEqual([6, 2]);
  },
);
