import { connect as connectHttp2 } from "node:http2";
import { once } from "node:events";
import { createServer } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { starved } from "../starved.ts";
import { ask } from "./ask.ts";
import { GateWorld, HOST, KEY, routeOf } from "./gate-world.ts";
import { endpointOf, freePort, podAddress, PodServer } from "./pod-server.ts";

describe("a held request", () => {
  test("gets 503 with Retry-After after hold.timeout, never 408, and is counted and logged once", async () => {
    await using world = await GateWorld.start();
    const port = await world.put(KEY, { hold: { timeout: 200 } });
    const { status, headers, took } = await ask(port, { body: "x" });
    expect({ status, code: headers["evenkeel-error"] }).toEqual({ status: 503, code: "EK_RESOLVER_NOT_AWAKE" });
    expect(headers).toMatchObject({ "retry-after": "3", "x-evenkeel-cold-start": "true" });
    expect(took).toBeGreaterThanOrEqual(200);
    const rejected = `evenkeel_resolver_rejected_total{namespace="shop",service="checkout",reason="deadline"}`;
    await eventually(async () => (await world.sample(rejected)) === 1);
    expect(world.accessLog()).toMatchObject([{ outcome: "deadline", status: 503 }]);
    expect(world.changes).toEqual([KEY, KEY]);
  });

  test("gets it when a pod refuses connections all the time", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.make();
    const port = await world.put(KEY, { hold: { timeout: 400 } });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const { status, headers, took } = await ask(port);
    expect({ status, code: headers["evenkeel-error"] }).toEqual({ status: 503, code: "EK_RESOLVER_NOT_AWAKE" });
    expect(took).toBeGreaterThanOrEqual(400);
    // A pod is there: nothing has to be woken.
    expect(world.wakes).toEqual([]);
  });

  test.each(["GET", "POST"])(
    "that is a %s gets it, after few tries, when a pod resets every new connection",
    async (method) => {
      await using world = await GateWorld.start();
      let connections = 0;
      const server = createServer((socket) => {
        connections += 1;
        socket.on("error", () => undefined).resetAndDestroy();
      });
      const pod = { address: await podAddress(), port: await freePort() };
      server.listen(pod.port, pod.address);
      await once(server, "listening");
      const port = await world.put(KEY, { hold: { timeout: 400 } });
      world.gate.endpoints(KEY, [endpointOf(pod.address, pod.port)]);
      const { status, headers } = await ask(port, method === "POST" ? { body: "x" } : {});
      server.close();
      expect({ status, code: headers["evenkeel-error"] }).toEqual({ status: 503, code: "EK_RESOLVER_NOT_AWAKE" });
      // After 10, 20, 40, … ms, each time with a connection that tests it.
      expect(connections).toBeLessThan(30);
    },
  );

  test("gets 503 with Retry-After when its Service is removed, and requests in flight are answered before its port closes", async () => {
    await using world = await GateWorld.start();
    let answer: (() => void) | undefined;
    await using pod = await PodServer.start({ answer: (_request, response) => (answer = () => response.end("late")) });
    const port = await world.put(KEY, { hold: { concurrencyPerPod: 1 } });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const flying = ask(port);
    await eventually(() => answer !== undefined);
    const held = ask(port);
    await eventually(() => world.gate.activity(KEY).pending === 1);
    const removed = world.gate.remove(KEY);
    const { status, headers } = await held;
    expect({ status, code: headers["evenkeel-error"], after: headers["retry-after"] }).toEqual({
      status: 503,
      code: "EK_RESOLVER_NO_LONGER_SERVED",
      after: "3",
    });
    answer?.();
    expect(await flying).toMatchObject({ status: 200, body: "late" });
    await removed;
    await expect(ask(port)).rejects.toThrow("ECONNREFUSED");
    expect((await world.registry.text()).includes(`service="checkout"`)).toBe(false);
    await world.gate.put(routeOf(KEY, port));
    const again = ask(port);
    await eventually(() => answer !== undefined);
    await eventually(() => pod.begun === 2);
    answer?.();
    expect((await again).status).toBe(200);
  });

  test("of gRPC gets a gRPC status", async () => {
    await using world = await GateWorld.start();
    const port = await world.put(KEY, { hold: { timeout: 50 } });
    const session = connectHttp2(`http://${HOST}:${port}`);
    const stream = session.request({ ":method": "POST", ":path": "/a.B/C", "content-type": "application/grpc" });
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(head).toMatchObject({ ":status": 200, "grpc-status": "14", "retry-after": "3" });
    session.destroy();
  });
});

describe("a request that finds the queue full", () => {
  test("gets 503 with Retry-After at once", async () => {
    await using world = await GateWorld.start();
    const port = await world.put(KEY, { hold: { maxPending: 2, timeout: 400 } });
    const held = [ask(port), ask(port)];
    await eventually(() => world.gate.activity(KEY).pending === 2);
    const before = starved();
    const { status, headers, took } = await ask(port);
    expect({ status, code: headers["evenkeel-error"] }).toEqual({ status: 503, code: "EK_RESOLVER_NO_ROOM" });
    expect(headers["retry-after"]).toBe("3");
    expect(headers).not.toHaveProperty("x-evenkeel-cold-start");
    expect(took - (starved() - before)).toBeLessThan(400);
    await Promise.all(held);
    const rejected = `evenkeel_resolver_rejected_total{namespace="shop",service="checkout",reason="overflowCount"}`;
    await eventually(async () => (await world.sample(rejected)) === 1);
    await eventually(() => world.accessLog().length > 0);
    expect(world.accessLog().map(({ outcome }) => outcome)).toEqual(["deadline", "deadline"]);
  });

  test("gets the placeholder where there is one", async () => {
    await using world = await GateWorld.start();
    const placeholder = { status: 202, body: "<h1>starting</h1>", contentType: "text/html" };
    const port = await world.put(KEY, { hold: { maxPendingBytes: 200, timeout: 300, placeholder } });
    const held = ask(port, { body: "x".repeat(100) });
    await eventually(() => world.gate.activity(KEY).pending === 1);
    const { status, headers, body } = await ask(port, { body: "x".repeat(100) });
    expect({ status, body, type: headers["content-type"] }).toEqual({
      status: 202,
      body: placeholder.body,
      type: "text/html",
    });
    await held;
  });

  test("is measured by what all ports of its Service hold together", async () => {
    await using world = await GateWorld.start();
    const ports = [
      { name: "http", port: 80, listen: null },
      { name: "admin", port: 9000, listen: null },
    ];
    await world.put(KEY, { ports, hold: { maxPending: 2, timeout: 500 } });
    const to = (port: number) => ask(world.mainPort, { headers: { host: `checkout.shop:${port}` } });
    const held = [to(80), to(9000)];
    await eventually(() => world.gate.activity(KEY).pending === 2);
    expect((await to(80)).headers["evenkeel-error"]).toBe("EK_RESOLVER_NO_ROOM");
    expect((await to(9000)).headers["evenkeel-error"]).toBe("EK_RESOLVER_NO_ROOM");
    await Promise.all(held);
  });

  test("for lack of file descriptors is refused before there are none, and pods still get requests", async () => {
    await using world = await GateWorld.start({ descriptorLimit: 128 + 20 });
    await using pod = await PodServer.start();
    const port = await world.put(KEY);
    const held = Array.from({ length: 15 }, () => ask(port));
    await eventually(() => world.gate.activity(KEY).pending === 15);
    const rest = Array.from({ length: 20 }, () => ask(port));
    const refused = await Promise.race(rest);
    expect({ status: refused.status, code: refused.headers["evenkeel-error"] }).toEqual({
      status: 503,
      code: "EK_RESOLVER_NO_DESCRIPTORS",
    });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const answers = await Promise.all([...held, ...rest]);
    const codes = new Set(answers.map(({ status, headers }) => headers["evenkeel-error"] ?? status));
    expect(codes).toEqual(new Set([200, "EK_RESOLVER_NO_DESCRIPTORS"]));
    const rejected = `evenkeel_resolver_rejected_total{namespace="shop",service="checkout",reason="descriptors"}`;
    await eventually(async () => ((await world.sample(rejected)) ?? 0) > 0);
  });
});
