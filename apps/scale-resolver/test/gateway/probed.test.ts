import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { ask } from "./ask.ts";
import { GateWorld, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";
import { ProbeRules } from "../../src/gateway/gate/probe-rules.ts";

const CHECK = "/healthz";
const probes = new ProbeRules([
  {
    path: { type: "Exact", value: CHECK },
    headers: [],
    queryParams: [],
    response: { status: 200, body: "asleep" },
  },
]);
const TERMINATING = { ready: false, serving: true, terminating: true };
const NOBODY = { pending: 0, inFlight: 0, requests: 0, lastRequestAt: null };

describe("a request that matches a probe rule", () => {
  test("goes to a ready pod, and is not reported to decisions", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put(KEY, { probes });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    for (let round = 0; round < 3; round++) expect((await ask(port, { path: CHECK })).body).not.toBe("asleep");
    expect(pod.begun).toBe(3);
    expect(world.gate.activity(KEY)).toEqual(NOBODY);
    expect([world.changes, world.wakes]).toEqual([[], []]);
    expect((await ask(port, { path: "/buy" })).status).toBe(200);
    expect(world.gate.activity(KEY)).toMatchObject({ requests: 1, lastRequestAt: expect.any(Number) });
    expect(world.changes).toEqual([KEY]);
  });

  test("does not count as in flight for decisions, so that another one is reported at once", async () => {
    await using world = await GateWorld.start();
    const checked: (() => void)[] = [];
    await using pod = await PodServer.start({
      answer: ({ url }, response) => {
        if (url === CHECK) checked.push(() => response.end("well"));
        else response.end();
      },
    });
    const port = await world.put(KEY, { probes });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const check = ask(port, { path: CHECK });
    await eventually(() => checked.length === 1);
    expect(world.gate.activity(KEY)).toEqual(NOBODY);
    await ask(port, { path: "/buy" });
    expect(world.changes).toEqual([KEY]);
    checked[0]?.();
    expect((await check).body).toBe("well");
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
  });

  test("goes to the last pod while that terminates, wakes nothing, and is answered by the rule once it is gone", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put(KEY, { probes });
    world.gate.endpoints(KEY, [pod.endpoint(TERMINATING)]);
    expect((await ask(port, { path: CHECK })).body).not.toBe("asleep");
    expect(pod.begun).toBe(1);
    world.gate.endpoints(KEY, []);
    expect((await ask(port, { path: CHECK })).body).toBe("asleep");
    expect(world.gate.activity(KEY)).toEqual(NOBODY);
    expect([world.changes, world.wakes]).toEqual([[], []]);
  });

  test("never waits: the rule answers it where the last pod no longer accepts connections", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.make();
    const port = await world.put(KEY, { probes });
    world.gate.endpoints(KEY, [pod.endpoint(TERMINATING)]);
    const { body, headers } = await ask(port, { path: CHECK });
    expect(body).toBe("asleep");
    expect(headers).not.toHaveProperty("x-evenkeel-cold-start");
    expect(world.gate.activity(KEY)).toEqual(NOBODY);
    expect([world.changes, world.wakes]).toEqual([[], []]);
  });
});
