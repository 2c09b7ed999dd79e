import { connect } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { ask } from "./ask.ts";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { freePort, PodServer } from "./pod-server.ts";
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

describe("a request to a port that does not wake", () => {
  const REJECTED = `evenkeel_resolver_rejected_total{namespace="shop",service="checkout",reason="portAsleep"}`;

  /** A Service with a port for requests and one for metrics, and the gate's ports for them. */
  async function put(world: GateWorld) {
    const [http, metrics] = [await freePort(), await freePort()];
    const ports = [
      { name: "http", port: 80, listen: http },
      { name: "metrics", port: 9090, listen: metrics, wakes: false },
    ];
    await world.put(KEY, { ports });
    return { http, metrics };
  }

  test("is refused at once, says so, is counted, and neither wakes nor counts as activity", async () => {
    await using world = await GateWorld.start();
    const { http, metrics } = await put(world);
    const { status, headers, body } = await ask(metrics, { path: "/metrics" });
    expect({ status, code: headers["evenkeel-error"] }).toEqual({ status: 503, code: "EK_RESOLVER_PORT_ASLEEP" });
    expect(headers).toMatchObject({ "retry-after": "3" });
    expect(headers).not.toHaveProperty("x-evenkeel-cold-start");
    expect(body).toMatch(/^EK_RESOLVER_PORT_ASLEEP: shop\/checkout /);
    const socket = connect(metrics, HOST).on("error", () => undefined);
    socket.write("*1\r\n$4\r\nPING\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    await eventually(async () => (await world.sample(REJECTED)) === 2);
    expect(world.gate.activity(KEY)).toEqual(NOBODY);
    expect([world.changes, world.wakes]).toEqual([[], []]);
    const held = ask(http);
    await eventually(() => world.wakes.length > 0);
    await using pod = await PodServer.start();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await held).status).toBe(200);
  });

  test("goes to a pod that serves, and does not count as activity", async () => {
    await using world = await GateWorld.start();
    const { metrics } = await put(world);
    await using pod = await PodServer.start();
    const { ports, ...endpoint } = pod.endpoint();
    world.gate.endpoints(KEY, [{ ...endpoint, ports: { ...ports, metrics: Object.values(ports)[0] ?? 0 } }]);
    expect((await ask(metrics)).status).toBe(200);
    expect(pod.begun).toBe(1);
    expect(world.gate.activity(KEY)).toEqual(NOBODY);
    expect([world.changes, world.wakes]).toEqual([[], []]);
  });
});
