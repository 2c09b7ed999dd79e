import { once } from "node:events";
import { createSecureServer, connect as connectHttp2 } from "node:http2";
import { connect, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, createServer as createTlsServer } from "node:tls";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { localhostCertificate } from "@evenkeel/testkit";
import { describe, expect, test } from "@jest/globals";
import { PATH_PROBE_HEADER, PATH_PROBE_START } from "../../src/gateway/gate/path-probe-answer.ts";
import { HOST, GateWorld, KEY } from "./gate-world.ts";
import { endpointOf, freePort, podAddress } from "./pod-server.ts";

const CERTIFICATE = localhostCertificate();

/** A pod that runs any server. It refuses connections until `listen`. */
class TcpPod implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly address: string;
  readonly port: number;
  connections = 0;

  private constructor(server: Server, address: string, port: number) {
    this.#server = server;
    this.address = address;
    this.port = port;
    server.on("connection", (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  static async make(server: Server): Promise<TcpPod> {
    return new TcpPod(server, await podAddress(), await freePort());
  }

  async listen(): Promise<this> {
    this.#server.listen({ port: this.port, host: this.address, backlog: 4096 });
    await once(this.#server, "listening");
    return this;
  }

  endpoint() {
    return endpointOf(this.address, this.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Answers each line. */
const echo = () => createServer((socket) => void socket.on("error", () => undefined).pipe(socket));

const greeter = () =>
  createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write("220 ready\r\n");
  });

interface Ended {
  readonly text: string;
  readonly code?: string;
}

/** Sends bytes and collects what comes back, until `enough` or the end. */
function talk(port: number, bytes: string, enough: string): Promise<Ended> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    let text = "";
    let code: string | undefined;
    socket.on("data", (data) => {
      text += data.toString("latin1");
      if (text.includes(enough)) socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => (code = error.code));
    socket.on("close", () => resolve({ text, ...(code !== undefined && { code }) }));
    if (bytes !== "") socket.write(bytes, "latin1");
  });
}

const RESP = "*1\r\n$4\r\nPING\r\n";

describe("a connection to a Service without serving pods", () => {
  test("of a protocol that is not HTTP wakes it once, waits and is joined with a pod", async () => {
    await using world = await GateWorld.start();
    await using pod = await TcpPod.make(echo());
    await pod.listen();
    const port = await world.put();
    const answer = talk(port, RESP, "PING\r\n");
    await eventually(() => world.gate.activity(KEY).pending === 1);
    expect([world.wakes, pod.connections]).toEqual([[KEY], 0]);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect(await answer).toEqual({ text: RESP });
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 0, requests: 1 });
    await eventually(() => world.accessLog().length > 0);
    expect(world.accessLog()).toMatchObject([{ service: KEY, outcome: "released", method: "TCP", path: "" }]);
    expect(world.firstAnswers).toHaveLength(1);
  });

  test("counts as a request in flight as long as it is open", async () => {
    await using world = await GateWorld.start();
    await using pod = await TcpPod.make(echo());
    await pod.listen();
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const socket = connect(port, HOST);
    socket.write(RESP);
    await once(socket, "data");
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 1, requests: 1 });
    socket.destroy();
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
  });

  test("is reset and counted after hold.timeout, when the queue is full, and when the Service is removed", async () => {
    const clock = new FakeClock();
    await using world = await GateWorld.start({}, clock);
    const port = await world.put(KEY, { hold: { timeout: 30_000, maxPending: 1 } });
    const late = talk(port, RESP, "never");
    await eventually(() => world.gate.activity(KEY).pending === 1);
    expect(await talk(port, RESP, "never")).toEqual({ text: "", code: "ECONNRESET" });
    await clock.advance(30_100);
    expect(await late).toEqual({ text: "", code: "ECONNRESET" });
    const drained = talk(port, RESP, "never");
    await eventually(() => world.gate.activity(KEY).pending === 1);
    await clock.advance(1000);
    const rejected = (reason: string) =>
      world.sample(`evenkeel_resolver_rejected_total{namespace="shop",service="checkout",reason="${reason}"}`);
    expect([await rejected("overflowCount"), await rejected("deadline")]).toEqual([1, 1]);
    const removed = world.gate.remove(KEY);
    expect(await drained).toEqual({ text: "", code: "ECONNRESET" });
    await removed;
  });

  test("that its client closes is forgotten and does not reach a pod", async () => {
    await using world = await GateWorld.start();
    await using pod = await TcpPod.make(echo());
    await pod.listen();
    const port = await world.put();
    const socket = connect(port, HOST);
    socket.write(RESP);
    await eventually(() => world.gate.activity(KEY).pending === 1);
    socket.end();
    await eventually(() => world.gate.activity(KEY).pending === 0);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await talk(port, RESP, "PING")).text).toBe(RESP);
    expect(pod.connections).toBe(1);
  });

  test("waits on while the pod that is ready refuses connections", async () => {
    await using world = await GateWorld.start();
    await using pod = await TcpPod.make(echo());
    const port = await world.put();
    const answer = talk(port, RESP, "PING\r\n");
    await eventually(() => world.gate.activity(KEY).pending === 1);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    await eventually(() => world.gate.forwarder.counts().upstreamSockets === 0);
    await pod.listen();
    expect(await answer).toEqual({ text: RESP });
  });
});

test("a burst of 500 TLS connections at zero: each is answered by a pod that starts, none is lost", async () => {
  await using world = await GateWorld.start();
  const server = createTlsServer(CERTIFICATE, (socket) => void socket.on("error", () => undefined).pipe(socket));
  await using pod = await TcpPod.make(server);
  const port = await world.put();
  // One for all: to make it takes most of the time of a handshake.
  const secureContext = createSecureContext({ ca: CERTIFICATE.cert });
  const ask = async (index: number): Promise<string> => {
    const socket = connectTls({ host: HOST, port, secureContext, servername: "localhost" });
    socket.write(`request ${index}`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return answer.toString();
  };
  const answers = Array.from({ length: 500 }, (_, index) => ask(index));
  await eventually(() => world.gate.activity(KEY).pending === 500, 60_000);
  world.gate.endpoints(KEY, [pod.endpoint()]);
  await pod.listen();
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 500 }, (_, index) => `request ${index}`));
  expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, requests: 500 });
}, 120_000);

test("HTTP/2 over TLS, as gRPC speaks it, wakes a Service, with trailers", async () => {
  await using world = await GateWorld.start();
  const server = createSecureServer(CERTIFICATE);
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.pipe(stream);
  });
  await using pod = await TcpPod.make(server);
  await pod.listen();
  const port = await world.put();
  const session = connectHttp2(`https://${HOST}:${port}`, { ca: CERTIFICATE.cert, servername: "localhost" });
  // The pod is killed at the end of the test.
  session.on("error", () => undefined);
  const stream = session.request({ ":method": "POST", ":path": "/shop.Cart/Add", te: "trailers" });
  stream.end("\0\0\0\0\x02ok");
  const trailers = once(stream, "trailers");
  await eventually(() => world.gate.activity(KEY).pending === 1);
  world.gate.endpoints(KEY, [pod.endpoint()]);
  stream.resume();
  const [received] = (await trailers) as [Readonly<Record<string, string>>];
  expect(received["grpc-status"]).toBe("0");
  session.close();
  await eventually(() => world.gate.activity(KEY).inFlight === 0);
});

describe("with hold.protocol tcp", () => {
  test("a connection whose server speaks first wakes a Service", async () => {
    await using world = await GateWorld.start();
    await using pod = await TcpPod.make(greeter());
    await pod.listen();
    const port = await world.put(KEY, { hold: { protocol: "tcp" } });
    const answer = talk(port, "", "ready");
    await eventually(() => world.gate.activity(KEY).pending === 1);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await answer).text).toBe("220 ready\r\n");
  });

  test("the path probe is answered, and neither it nor a test of the port counts as a request", async () => {
    await using world = await GateWorld.start();
    const port = await world.put(KEY, { hold: { protocol: "tcp" } });
    connect(port, HOST).once("connect", function (this: Socket) {
      this.destroy();
    });
    const probe = `${PATH_PROBE_START}HTTP/1.1\r\nhost: a\r\n${PATH_PROBE_HEADER}: t1\r\nconnection: close\r\n\r\n`;
    expect((await talk(port, probe, "\r\n\r\n")).text).toMatch(/^HTTP\/1\.1 204 /);
    await eventually(() => world.gate.forwarder.counts().clientSockets === 0);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 0, requests: 0 });
    expect(world.wakes).toEqual([]);
  });

  test("a spec that is edited applies to the next connection, at the same port", async () => {
    await using world = await GateWorld.start();
    await using pod = await TcpPod.make(greeter());
    await pod.listen();
    const listen = await freePort();
    const ports = [{ name: "http", port: 80, listen }];
    await world.put(KEY, { ports, hold: { protocol: "http" } });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await talk(listen, "\x16\x03\x01", "never")).text).toBe("");
    expect(pod.connections).toBe(0);
    expect(world.gate.activity(KEY)).toMatchObject({ requests: 0, lastRequestAt: null });
    const rejected = `evenkeel_resolver_rejected_total{namespace="shop",service="checkout",reason="protocol"}`;
    await eventually(async () => (await world.sample(rejected)) === 1);
    await world.put(KEY, { ports, hold: { protocol: "tcp" } });
    expect((await talk(listen, "", "ready")).text).toBe("220 ready\r\n");
  });
});
