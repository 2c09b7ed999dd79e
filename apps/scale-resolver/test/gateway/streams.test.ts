import { once } from "node:events";
import { createServer as createHttp2Server, connect as connectHttp2, type ServerHttp2Stream } from "node:http2";
import { connect } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { endpointOf, freePort, podAddress, PodServer } from "./pod-server.ts";

test("a WebSocket that is opened while the service sleeps waits for its pod, and then carries messages both ways", async () => {
  await using world = await GateWorld.start();
  await using pod = await PodServer.start();
  pod.server.on("upgrade", (_request, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nhello ");
    socket.on("data", (data: Buffer) => socket.write(`echo ${data.toString()}`));
    socket.on("end", () => socket.end());
    socket.on("error", () => undefined);
  });
  const port = await world.put();
  const client = connect(port, HOST);
  let received = "";
  client.on("data", (data) => (received += data.toString()));
  client.on("error", () => undefined);
  client.write(
    "GET /chat HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  await eventually(() => world.gate.activity(KEY).pending === 1);
  expect(world.wakes).toEqual([KEY]);
  world.gate.endpoints(KEY, [pod.endpoint()]);
  await eventually(() => received.endsWith("hello "));
  expect(received).toMatch(/^HTTP\/1\.1 101 /);
  expect(world.firstAnswers).toHaveLength(1);
  client.write("one");
  await eventually(() => received.endsWith("echo one"));
  expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 1 });
  // No request waits for a tunnel that stays open.
  client.write("two");
  await eventually(() => received.endsWith("echo two"));
  client.destroy();
  await eventually(() => world.gate.activity(KEY).inFlight === 0);
});

describe("gRPC", () => {
  /** A length-prefixed message. */
  const message = (text: string) => {
    const bytes = Buffer.from(text);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 1);
    return Buffer.concat([head, bytes]);
  };

  test("that streams both ways, opened while the service sleeps, goes by HTTP/2 with trailers to a pod that refuses connections at first", async () => {
    await using world = await GateWorld.start();
    const port = await world.put();
    const address = await podAddress();
    const podPort = await freePort();
    const paths: unknown[] = [];
    const server = createHttp2Server();
    server.on("stream", (stream: ServerHttp2Stream, head) => {
      paths.push(head[":path"]);
      stream.on("error", () => undefined);
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-tail": "t" }));
      stream.on("data", (data: Buffer) => stream.write(data));
      stream.on("end", () => stream.end());
    });
    const session = connectHttp2(`http://${HOST}:${port}`);
    const stream = session.request({
      ":method": "POST",
      ":path": "/chat.Chat/Talk",
      "content-type": "application/grpc",
      te: "trailers",
    });
    let received = Buffer.alloc(0);
    let trailers: Record<string, unknown> = {};
    stream.on("data", (data: Buffer) => (received = Buffer.concat([received, data])));
    stream.on("trailers", (list: Record<string, unknown>) => (trailers = list));
    stream.write(message("first"));
    await eventually(() => world.gate.activity(KEY).pending === 1);
    world.gate.endpoints(KEY, [endpointOf(address, podPort)]);
    await world.refused();
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 1, inFlight: 0 });
    server.listen(podPort, address);
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(head).toMatchObject({ ":status": 200, "x-evenkeel-cold-start": "true" });
    await eventually(() => received.includes("first"));
    stream.write(message("second"));
    await eventually(() => received.includes("second"));
    stream.end();
    await once(stream, "close");
    expect(received).toEqual(Buffer.concat([message("first"), message("second")]));
    expect(trailers).toMatchObject({ "grpc-status": "0", "x-tail": "t" });
    expect(paths).toEqual(["/chat.Chat/Talk"]);
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
    session.destroy();
    await world.gate.forwarder.drain(AbortSignal.abort());
    await world.gate.forwarder.stop(AbortSignal.abort());
    server.close();
  });

  test("at a pod that accepts connections and has no HTTP/2 fails soon, and affects no other request", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.start();
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const session = connectHttp2(`http://${HOST}:${port}`);
    const stream = session.request({ ":method": "POST", ":path": "/a.B/C", "content-type": "application/grpc" });
    stream.end(message("x"));
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(head).toMatchObject({ "grpc-status": "14" });
    expect(world.gate.activity(KEY).pending).toBe(0);
    session.destroy();
  });
});
