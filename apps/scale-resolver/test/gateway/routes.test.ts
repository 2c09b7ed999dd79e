import { once } from "node:events";
import { Agent } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { PATH_PROBE_HEADER, PATH_PROBE_PATH } from "../../src/gateway/gate/path-probe-answer.ts";
import { ask } from "./ask.ts";
import { GateWorld, HOST, KEY, routeOf } from "./gate-world.ts";
import { freePort, PodServer } from "./pod-server.ts";
import { ProbeRules } from "../../src/gateway/gate/probe-rules.ts";

test("a header does not name a Service without a route to redirect, until it had one", async () => {
  await using world = await GateWorld.start();
  await using pod = await PodServer.start();
  await world.put(KEY, { byHeader: false });
  world.gate.endpoints(KEY, [pod.endpoint()]);
  const status = async () => (await ask(world.mainPort, { headers: { host: "checkout.shop" } })).status;
  expect([await status(), pod.begun]).toEqual([404, 0]);
  await world.put(KEY, { byHeader: true });
  expect(await status()).toBe(200);
  // Proxies follow a restored route late.
  await world.put(KEY, { byHeader: false });
  expect(await status()).toBe(200);
});

describe("the port for all Services", () => {
  test.each([
    ["Host with the cluster's domain", { host: "checkout.shop.svc.cluster.local:80" }],
    ["Host without it", { host: "checkout.shop" }],
    ["Host in capitals, with a port that the Service does not have", { host: "Checkout.Shop.svc:8012" }],
    [
      "X-Envoy-Decorator-Operation before Host",
      { host: "other.shop", "x-envoy-decorator-operation": "checkout.shop.svc.cluster.local:80/*" },
    ],
    [
      "Host where the header before it names nothing that is known",
      { host: "checkout.shop", "x-envoy-decorator-operation": "nobody.shop.svc.cluster.local:80/*" },
    ],
  ])("finds a Service by %s", async (_name, headers) => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    await using other = await PodServer.start();
    await world.gate.put(routeOf(KEY, null));
    await world.gate.put(routeOf("shop/other", null));
    world.gate.endpoints(KEY, [pod.endpoint()]);
    world.gate.endpoints("shop/other", [other.endpoint()]);
    const { status } = await ask(world.mainPort, { headers });
    expect({ status, here: pod.begun, elsewhere: other.begun }).toEqual({ status: 200, here: 1, elsewhere: 0 });
    expect(pod.arrivals[0]?.headers.host).toBe(headers.host);
    await eventually(
      async () => (await world.sample(`elasti_resolver_host_extraction_count{extractionType="header"}`)) === 1,
    );
  });

  test("takes the port of the Service from the header", async () => {
    await using world = await GateWorld.start();
    await using first = await PodServer.start();
    await using second = await PodServer.start();
    const ports = [
      { name: "http", port: 80, listen: null },
      { name: "admin", port: 9000, listen: null },
    ];
    await world.put(KEY, { ports });
    const endpoint = { ...first.endpoint(), address: second.address, ports: { admin: second.port } };
    world.gate.endpoints(KEY, [first.endpoint(), endpoint]);
    await ask(world.mainPort, { headers: { host: "checkout.shop:9000" } });
    await ask(world.mainPort, { headers: { host: "checkout.shop" } });
    expect([first.begun, second.begun]).toEqual([1, 1]);
  });

  test.each([
    ["names none that is known", "nobody.shop.svc.cluster.local"],
    ["is no name of a Service", "localhost"],
    ["is an address", "10.0.0.1:8012"],
  ])("answers 404, and says what to send, when Host %s", async (_name, host) => {
    await using world = await GateWorld.start();
    await world.gate.put(routeOf(KEY, null));
    const { status, headers, body } = await ask(world.mainPort, { headers: { host } });
    expect({ status, code: headers["evenkeel-error"] }).toEqual({ status: 404, code: "EK_RESOLVER_UNKNOWN_SERVICE" });
    expect(body).toContain("X-Envoy-Decorator-Operation, Host");
    expect(world.wakes).toEqual([]);
    await eventually(
      async () => (await world.sample(`elasti_resolver_host_extraction_count{extractionType="none"}`)) === 1,
    );
  });

  test("wakes and holds as a Service's own port does, and never closes clients' connections", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    await world.gate.put(routeOf(KEY, null));
    const agent = new Agent({ keepAlive: true });
    const answer = ask(world.mainPort, { agent, headers: { host: "checkout.shop" } });
    await eventually(() => world.gate.activity(KEY).pending === 1);
    expect(world.wakes).toEqual([KEY]);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await answer).headers["x-evenkeel-cold-start"]).toBe("true");
    expect((await ask(world.mainPort, { agent, headers: { host: "checkout.shop" } })).headers.connection).toBe(
      "keep-alive",
    );
    agent.destroy();
  });
});

describe("the port of a Service", () => {
  test("forwards to it whatever Host says", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await ask(port, { headers: { host: "www.example.com" } })).status).toBe(200);
    expect(pod.arrivals[0]?.headers.host).toBe("www.example.com");
  });

  test("knows endpoints that were reported before the Service was put", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const port = await world.put();
    expect((await ask(port)).status).toBe(200);
    expect(world.wakes).toEqual([]);
  });

  test("that is in use is reported in the log and in a metric, affects no other Service, and is retried at the next put", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const taken = createServer().listen(0, HOST);
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    await world.gate.put(routeOf(KEY, port));
    expect(world.lines.join("")).toContain("EK_FORWARD_CANNOT_LISTEN");
    const unbound = `evenkeel_resolver_unbound_ports{namespace="shop",service="checkout"}`;
    expect(await world.sample(unbound)).toBe(1);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await ask(world.mainPort, { headers: { host: "checkout.shop" } })).status).toBe(200);
    taken.close();
    await once(taken, "close");
    await world.gate.put(routeOf(KEY, port));
    expect(await world.sample(unbound)).toBe(0);
    expect((await ask(port)).status).toBe(200);
  });

  test("moves when it gets another number, without affecting waiting requests", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    const held = ask(port, { id: "held" });
    await eventually(() => world.gate.activity(KEY).pending === 1);
    const next = await freePort();
    await world.gate.put(routeOf(KEY, next));
    await world.gate.put(routeOf(KEY, next));
    // A node that has not followed yet still sends requests to the old port.
    const late = ask(port, { id: "late" });
    const more = ask(next, { id: "more" });
    await eventually(() => world.gate.activity(KEY).pending === 3);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect([(await held).status, (await late).status, (await more).status]).toEqual([200, 200, 200]);
    await eventually(() => expect(ask(port)).rejects.toThrow("ECONNREFUSED"));
  });

  test("answers a path probe at once, sleeping or not, and neither holds, forwards nor counts it", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    const probe = () => ask(port, { path: PATH_PROBE_PATH, headers: { [PATH_PROBE_HEADER]: "token-1.2_3" } });
    const asleep = await probe();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const awake = await probe();
    for (const { status, headers } of [asleep, awake]) {
      expect({ status, token: headers[PATH_PROBE_HEADER] }).toEqual({ status: 204, token: "token-1.2_3" });
    }
    expect(world.gate.activity(KEY)).toEqual({ pending: 0, inFlight: 0, requests: 0, lastRequestAt: null });
    expect([world.wakes, world.changes, pod.begun]).toEqual([[], [], 0]);
  });

  test("forwards the path of a probe, and OPTIONS *, of any other client", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await ask(port, { method: "OPTIONS", path: "*" })).status).toBe(200);
    expect((await ask(port, { path: PATH_PROBE_PATH })).status).toBe(200);
    expect(pod.arrivals).toMatchObject([
      { method: "OPTIONS", path: "*" },
      { method: "GET", path: PATH_PROBE_PATH },
    ]);
  });
});

describe("probe rules", () => {
  const probes = new ProbeRules([
    {
      path: { type: "PathPrefix", value: "/health" },
      headers: [],
      queryParams: [],
      response: { status: 200, body: "asleep" },
    },
    {
      path: { type: "RegularExpression", value: "(?=a)" },
      headers: [],
      queryParams: [],
      response: { status: 200, body: "never" },
    },
  ]);

  test("answer while nothing serves, without a wake and without counting as activity, and pods answer otherwise", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put(KEY, { probes });
    const asleep = await ask(port, { path: "/health/live?x=1" });
    expect([asleep.status, asleep.body]).toEqual([200, "asleep"]);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, requests: 0 });
    expect([world.wakes, world.changes]).toEqual([[], []]);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    await ask(port, { path: "/health" });
    expect(pod.arrivals).toMatchObject([{ path: "/health" }]);
    expect(world.gate.activity(KEY)).toMatchObject({ requests: 0 });
  });

  test("with an invalid expression match nothing, which is logged", async () => {
    await using world = await GateWorld.start();
    const port = await world.put(KEY, { probes, hold: { timeout: 1 } });
    expect((await ask(port, { path: "/aaa" })).status).toBe(503);
    expect(world.lines.join("")).toContain("EK_RESOLVER_PATTERN_REFUSED");
  });
});

describe("clients of a Service whose pods are ready", () => {
  test("are served, and a connection that is a second old is closed with its next answer, since the path is restored", async () => {
    const clock = new FakeClock();
    await using world = await GateWorld.start({}, clock);
    await using pod = await PodServer.start();
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked = async () => (await ask(port, { agent })).headers.connection;
    expect([await asked(), await asked()]).toEqual(["keep-alive", "keep-alive"]);
    await clock.advance(1000);
    expect([await asked(), await asked()]).toEqual(["close", "keep-alive"]);
    agent.destroy();
    expect(pod.arrivals).toHaveLength(4);
  });

  test("of HTTP/2 get GOAWAY with their answer", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const session = connectHttp2(`http://${HOST}:${port}`);
    const goaway = once(session, "goaway");
    const stream = session.request({ ":path": "/" });
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    await goaway;
    // The pod speaks HTTP/1.1 alone, and the client's protocol is mirrored.
    expect(head[":status"]).toBe(503);
    stream.resume();
    await once(session, "close");
  });

  test("that terminate get requests while no other is ready, and clients' connections stay open", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint({ ready: false, serving: true, terminating: true })]);
    const agent = new Agent({ keepAlive: true });
    const { status, headers } = await ask(port, { agent });
    expect([status, headers.connection]).toEqual([200, "keep-alive"]);
    await using next = await PodServer.start();
    world.gate.endpoints(KEY, [pod.endpoint({ ready: false, terminating: true }), next.endpoint()]);
    await ask(port, { agent });
    world.gate.endpoints(KEY, [next.endpoint({ ready: false, serving: false })]);
    const held = ask(port, { agent });
    await eventually(() => world.gate.activity(KEY).pending === 1);
    world.gate.endpoints(KEY, [next.endpoint()]);
    await held;
    expect([pod.begun, next.begun]).toEqual([1, 2]);
    expect(world.wakes).toEqual([KEY]);
    agent.destroy();
  });
});

describe("dial: service", () => {
  test("sends requests to the Service's own address once a pod is ready", async () => {
    await using world = await GateWorld.start();
    await using cluster = await PodServer.start();
    const ports = [{ name: "http", port: cluster.port, listen: await freePort() }];
    await world.put(KEY, { dial: "service", clusterAddress: cluster.address, ports });
    const port = ports[0]?.listen ?? 0;
    const held = ask(port);
    await eventually(() => world.gate.activity(KEY).pending === 1);
    await using pod = await PodServer.start();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await held).status).toBe(200);
    expect([cluster.begun, pod.begun]).toEqual([1, 0]);
  });

  test("breaks the loop when the cluster IP returns a request to the resolver: the pod gets it, and it counts once", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const listen = await freePort();
    // The Service's own address is the gate's.
    await world.put(KEY, {
      dial: "service",
      clusterAddress: HOST,
      ports: [{ name: "http", port: listen, listen }],
    });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await ask(listen, { id: "round" })).status).toBe(200);
    expect(pod.arrivals).toMatchObject([{ id: "round" }]);
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
    expect(world.gate.activity(KEY)).toMatchObject({ requests: 1 });
  });
});
