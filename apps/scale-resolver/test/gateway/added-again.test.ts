import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { ask } from "./ask.ts";
import { GateWorld, KEY, routeOf } from "./gate-world.ts";
import { freePort, PodServer } from "./pod-server.ts";

const IN_FLIGHT = `evenkeel_resolver_in_flight{namespace="shop",service="checkout"}`;

test("a Service that is added again while requests of the removed one are in flight has none itself", async () => {
  await using world = await GateWorld.start();
  let answer: (() => void) | undefined;
  await using pod = await PodServer.start({ answer: (_request, response) => (answer = () => response.end("late")) });
  const port = await world.put();
  world.gate.endpoints(KEY, [pod.endpoint()]);
  const flying = ask(port);
  await eventually(() => answer !== undefined);
  await eventually(async () => (await world.sample(IN_FLIGHT)) === 1);
  const removed = world.gate.remove(KEY);
  await world.gate.put(routeOf(KEY, await freePort()));
  answer?.();
  expect((await flying).status).toBe(200);
  await removed;
  expect(world.gate.activity(KEY).inFlight).toBe(0);
  await eventually(async () => (await world.sample(IN_FLIGHT)) === 0);
});

test("the ports of a Service count as not open until the gate listens on them", async () => {
  await using world = await GateWorld.start();
  const one = routeOf(KEY, await freePort());
  const added = world.gate.put(one);
  expect(world.gate.unbound(KEY)).toBe(1);
  await added;
  expect(world.gate.unbound(KEY)).toBe(0);
  const changed = world.gate.put({
    ...one,
    ports: [...one.ports, { name: "admin", port: 81, listen: await freePort() }],
  });
  expect(world.gate.unbound(KEY)).toBe(1);
  await changed;
  expect(world.gate.unbound(KEY)).toBe(0);
  // A port that none is assigned to is not to be opened.
  await world.gate.put(routeOf(KEY, null));
  expect(world.gate.unbound(KEY)).toBe(0);
});
