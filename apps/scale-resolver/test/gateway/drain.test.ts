import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { ask } from "./ask.ts";
import { GateWorld, KEY, routeOf } from "./gate-world.ts";
import { freePort, PodServer } from "./pod-server.ts";

test("500 requests that are held when the drain begins are served within it, and no new one is accepted", async () => {
  await using world = await GateWorld.start();
  await using pod = await PodServer.make();
  const port = await world.put();
  const { forwarder } = world.gate;
  const { mainPort } = world;
  const held = Array.from({ length: 500 }, (_, index) => ask(port, { id: String(index), body: `body ${index}` }));
  await eventually(() => world.gate.activity(KEY).pending === 500);
  const deadline = new AbortController();
  const drained = forwarder.drain(deadline.signal);
  await expect(ask(port)).rejects.toThrow("ECONNREFUSED");
  await expect(ask(mainPort)).rejects.toThrow("ECONNREFUSED");
  expect(world.gate.activity(KEY).pending).toBe(500);
  // The pod becomes ready and refuses connections for a while.
  world.gate.endpoints(KEY, [pod.endpoint()]);
  await world.refused();
  await pod.listen();
  for (const { status, headers } of await Promise.all(held)) {
    expect([status, headers.connection]).toEqual([200, "close"]);
  }
  expect(await drained).toBe(0);
  expect(new Set(pod.arrivals.map(({ id }) => id)).size).toBe(500);
}, 60_000);

test("no port is opened while the process drains", async () => {
  await using world = await GateWorld.start();
  await world.gate.forwarder.drain(AbortSignal.abort());
  const port = await freePort();
  await world.gate.put(routeOf(KEY, port));
  await expect(ask(port)).rejects.toThrow("ECONNREFUSED");
});

test("requests still held at the end of the drain are cut, and the forwarder reports how many", async () => {
  await using world = await GateWorld.start();
  const port = await world.put();
  const held = Array.from({ length: 3 }, () => ask(port));
  const ends = Promise.allSettled(held);
  await eventually(() => world.gate.activity(KEY).pending === 3);
  const deadline = new AbortController();
  const drained = world.gate.forwarder.drain(deadline.signal);
  deadline.abort();
  expect(await drained).toBe(3);
  expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await eventually(() => world.gate.activity(KEY).pending === 0);
});
