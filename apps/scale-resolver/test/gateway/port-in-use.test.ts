import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { ask } from "./ask.ts";
import { GateWorld, HOST, KEY, routeOf } from "./gate-world.ts";
import { freePort, PodServer } from "./pod-server.ts";

const UNBOUND = `evenkeel_resolver_unbound_ports{namespace="shop",service="checkout"}`;

/** Another program that listens on a port. */
async function taker(port = 0): Promise<Server & AsyncDisposable> {
  const server = createServer().listen(port, HOST);
  await once(server, "listening");
  return server;
}

const portOf = (server: Server) => (server.address() as { readonly port: number }).port;

describe("the port of a Service that another program uses", () => {
  test("is opened within half a minute after it is free, and both are reported to decisions", async () => {
    const clock = new FakeClock();
    await using world = await GateWorld.start({}, clock);
    await using pod = await PodServer.start();
    await using taken = await taker();
    const port = portOf(taken);
    await world.gate.put(routeOf(KEY, port));
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect([world.gate.unbound(KEY), await world.sample(UNBOUND), world.changes]).toEqual([1, 1, [KEY]]);
    for (let minute = 0; minute < 60; minute++) await clock.advance(60_000);
    expect(world.gate.unbound(KEY)).toBe(1);
    await taken[Symbol.asyncDispose]();
    await clock.advance(30_000);
    await eventually(() => world.gate.unbound(KEY) === 0);
    expect((await ask(port)).status).toBe(200);
    expect([await world.sample(UNBOUND), world.changes.slice(0, 2)]).toEqual([0, [KEY, KEY]]);
  });

  test("is retried soon at first, then with back-off, and every half minute in the end", async () => {
    const clock = new FakeClock();
    await using world = await GateWorld.start({}, clock);
    await using taken = await taker();
    await world.gate.put(routeOf(KEY, portOf(taken)));
    const tries = () => world.lines.filter((line) => line.includes("EK_FORWARD_CANNOT_LISTEN")).length;
    const during = async (milliseconds: number) => {
      const before = tries();
      const end = clock.monotonic() + milliseconds;
      while (clock.monotonic() < end) {
        await clock.advance(250);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return tries() - before;
    };
    expect(await during(1_000)).toBeGreaterThanOrEqual(1);
    await during(120_000);
    expect([9, 10]).toContain(await during(300_000));
  });

  test("is no longer retried once its Service is removed, or has another port", async () => {
    const clock = new FakeClock();
    await using world = await GateWorld.start({}, clock);
    await using taken = await taker();
    const port = portOf(taken);
    const still = clock.pending;
    await world.gate.put(routeOf(KEY, port));
    await world.gate.put(routeOf(KEY, await freePort()));
    expect([world.gate.unbound(KEY), await world.sample(UNBOUND)]).toEqual([0, 0]);
    await world.gate.put(routeOf(KEY, port));
    expect(world.gate.unbound(KEY)).toBe(1);
    await world.gate.remove(KEY);
    expect(await world.sample(UNBOUND)).toBeUndefined();
    // Nothing listens for a Service that the gate does not know.
    expect(world.gate.unbound(KEY)).toBe(1);
    await taken[Symbol.asyncDispose]();
    await clock.advance(60_000);
    await expect(ask(port)).rejects.toThrow("ECONNREFUSED");
    expect(clock.pending).toBe(still);
  });
});
