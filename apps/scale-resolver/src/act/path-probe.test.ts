import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Service } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import { PathProbe, probePoints, triesFor } from "./path-probe.ts";

const HEADER = "evenkeel-probe";
const never = new AbortController().signal;

describe("a probe of a Service's path", () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let seen: string[];
  /** Connections that are open at the resolver. */
  let arrived: number;
  let probe: PathProbe;

  beforeEach(() => {
    seen = [];
    arrived = 0;
    probe = new PathProbe({ clock: systemClock, random: Math.random, connections: () => arrived });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  const listen = async (server: Server): Promise<number> => {
    servers.push(server);
    server.on("connection", (socket: Socket) => {
      sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => undefined));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  const http = (answer: RequestListener) => listen(createHttpServer(answer));
  const answers: RequestListener = ({ method, url, headers }, response) => {
    seen.push(`${method} ${url}`);
    response.writeHead(204, { [HEADER]: headers[HEADER] }).end();
  };
  const resolver = () => {
    const server = createHttpServer(answers);
    server.on("connection", (socket: Socket) => {
      arrived += 1;
      socket.on("close", () => (arrived -= 1));
    });
    return listen(server);
  };
  /** A resolver whose connections this replica does not see. */
  const otherResolver = () => http(answers);
  const pod = (status = 200) =>
    http(({ method }, response) => {
      seen.push(`pod ${method}`);
      response.writeHead(status).end("hello");
    });
  const at = (port: number): Service => ({
    metadata: { namespace: "shop", name: "web" },
    spec: { clusterIP: "127.0.0.1", ports: [{ port }] },
  });
  /** Connections go to several ports in rotation, as those to a Service do. */
  const service = async (...ports: readonly number[]): Promise<Service> => {
    let turn = 0;
    const port = await listen(
      createServer((client) => {
        const place = connect(ports[turn++ % ports.length] ?? 0, "127.0.0.1");
        place.on("error", () => client.destroy()).on("close", () => client.destroy());
        client.on("close", () => place.destroy());
        client.pipe(place).pipe(client);
      }),
    );
    return at(port);
  };

  const softly = (ready: number) => ({ ready, blind: false });
  const blindly = (ready: number) => ({ ready, blind: true });

  test("succeeds if the resolver is the only endpoint", async () => {
    expect(await probe.prove(await service(await resolver()), softly(0), never)).toBe(true);
    expect(seen).toEqual(["GET /.well-known/evenkeel-path-probe"]);
  });

  test("succeeds with pods as further endpoints, which get no request", async () => {
    const ports = [await pod(), await pod(404), await pod(204), await resolver()];
    expect(await probe.prove(await service(...ports), blindly(3), never)).toBe(true);
    expect(seen).toEqual(["GET /.well-known/evenkeel-path-probe"]);
  });

  test("fails while one port only reaches pods", async () => {
    const [whole, half] = [await service(await resolver()), await service(await pod())];
    const ports = [...(whole.spec?.ports ?? []), ...(half.spec?.ports ?? [])];
    const connections = (_service: Service, port: number) => (port === ports[0]?.port ? arrived : 0);
    const apart = new PathProbe({ clock: systemClock, random: Math.random, connections });
    expect(await apart.prove({ ...whole, spec: { ...whole.spec, ports } }, softly(0), never)).toBe(false);
    expect(seen).toEqual(["GET /.well-known/evenkeel-path-probe"]);
  });

  test("asks pods nothing in the first round, and very little later", async () => {
    const only = await service(await pod());
    expect(await probe.prove(only, softly(0), never)).toBe(false);
    expect(seen).toEqual([]);
    expect(await probe.prove(only, blindly(0), never)).toBe(false);
    expect(seen).toEqual(["pod GET", "pod GET"]);
  });

  test("succeeds in a blind round at a replica whose connections this one does not see", async () => {
    const other = await service(await otherResolver());
    expect(await probe.prove(other, softly(0), never)).toBe(false);
    expect(await probe.prove(other, blindly(0), never)).toBe(true);
  });

  test("succeeds behind a sidecar, which chooses the Service by the Host of a request", async () => {
    const hosts = new Set<string>();
    const sidecar: number = await http((request, response) => {
      if (hosts.has(request.headers.host ?? "")) answers(request, response);
      else response.writeHead(404).end();
    });
    const behind = at(sidecar);
    expect(await probe.prove(behind, blindly(0), never)).toBe(false);
    // A domain of Istio's virtual host for the Service: generateVirtualHostDomains.
    hosts.add(`web.shop.svc:${sidecar}`);
    expect(await probe.prove(behind, blindly(0), never)).toBe(true);
  });

  test("does not take a pod for the resolver that answers as it does with another token", async () => {
    const echo = await http((_request, response) => void response.writeHead(204, { [HEADER]: "0-0-0-0" }).end());
    expect(await probe.prove(await service(echo), blindly(0), never)).toBe(false);
  });

  test("does not take a pod for the resolver that repeats the header with another status", async () => {
    const echo = await http(
      ({ headers }, response) => void response.writeHead(200, { [HEADER]: headers[HEADER] }).end(),
    );
    expect(await probe.prove(await service(echo), blindly(0), never)).toBe(false);
  });

  test("connects in proportion to the number of pods", async () => {
    let connected = 0;
    const busy = await listen(createServer(() => (connected += 1)));
    expect(await probe.prove(at(busy), softly(1), never)).toBe(false);
    expect(connected).toBe(9);
    expect([0, 1, 5, 14, 1000].map(triesFor)).toEqual([5, 9, 25, 25, 25]);
  });

  test.each<[string, (socket: Socket) => void]>([
    ["speaks something else", (socket) => socket.write("220 mail.example\r\n")],
    ["closes at once", (socket) => socket.destroy()],
    ["changes the protocol", (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n")],
    ["has no end of headers", (socket) => socket.write(`HTTP/1.1 204 No Content\r\nx: ${"a".repeat(100_000)}`)],
  ])("misses a pod that %s", async (_name, greet) => {
    const port = await listen(createServer((socket) => void socket.once("data", () => greet(socket))));
    expect(await probe.prove(at(port), blindly(0), never)).toBe(false);
  });

  test("misses a port where nothing listens", async () => {
    const port = await listen(createServer());
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(await probe.prove(at(port), blindly(3), never)).toBe(false);
  });

  test("waits a second for a pod that says nothing", async () => {
    const port = await listen(createServer());
    const start = systemClock.monotonic();
    expect(await probe.prove(at(port), blindly(0), never)).toBe(false);
    expect(systemClock.monotonic() - start).toBeGreaterThan(950);
  });

  test("ends when it is no longer wanted", async () => {
    const controller = new AbortController();
    let asked = 0;
    const port = await listen(
      createServer(() => {
        asked += 1;
        controller.abort();
      }),
    );
    expect(await probe.prove(at(port), blindly(9), controller.signal)).toBe(false);
    expect(await probe.prove(at(port), blindly(9), controller.signal)).toBe(false);
    expect(asked).toBe(1);
  });

  test.each<[string, Service["spec"]]>([
    ["is headless", { clusterIP: "None" }],
    ["has no address yet", {}],
    ["is a name elsewhere", { type: "ExternalName", clusterIP: "10.0.0.1" }],
    ["has no TCP port", { ports: [{ port: 53, protocol: "UDP" }] }],
    ["binds clients to pods", { clusterIP: "10.0.0.1", sessionAffinity: "ClientIP" }],
  ])("proves nothing of a Service that %s, which is not waited for", async (_name, spec) => {
    const unprovable = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }], ...spec } };
    expect(probePoints(unprovable)).toEqual([]);
    expect(await probe.prove(unprovable, softly(1), never)).toBe(true);
  });

  test("asks each TCP port, at the address of each family", () => {
    const ports = [{ port: 53, protocol: "UDP" }, { port: 80, protocol: "TCP" }, { port: 9090 }];
    const at = (address: string) => [80, 9090].map((port) => ({ address, port }));
    const spec = { clusterIP: "10.0.0.1", ports };
    expect(probePoints({ metadata: {}, spec })).toEqual(at("10.0.0.1"));
    const clusterIPs = ["10.0.0.1", "fd00::1"];
    expect(probePoints({ metadata: {}, spec: { ...spec, clusterIPs } })).toEqual(clusterIPs.flatMap(at));
  });
});
