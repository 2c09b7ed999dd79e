import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Fields } from "../../json.ts";
import { tables } from "../object-state.ts";
import { SmallWorld } from "../../testing/small-world.ts";
import { dataPlane, type DataPlane, type Listener } from "./data-plane.ts";
import type { Target } from "./targets.ts";

let world: SmallWorld;
let plane: DataPlane;
const pods = new Map<string, Server>();

/** A pod that answers each connection with its address and what it was sent. */
async function listen(address: string): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.write(`${address} `);
    socket.pipe(socket);
  });
  pods.set(address, server.listen(0, "127.0.0.1"));
  await once(server, "listening");
}

/** A port of an address on which nothing listens. */
async function freePlace(host: string): Promise<Listener> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return { host, port };
}

beforeEach(async () => {
  for (const address of ["10.0.0.1", "10.0.0.2"]) await listen(address);
  const locate = ({ address }: Target): Listener | undefined => {
    const found = pods.get(address)?.address() as AddressInfo | undefined;
    return found === undefined ? undefined : { host: "127.0.0.1", port: found.port };
  };
  plane = dataPlane({ nodeLag: (node) => (node === "slow" ? 5000 : 0), locate });
  world = new SmallWorld(plane.behaviour);
  world.create(tables.services, { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  const labels = { "kubernetes.io/service-name": "web" };
  const body = { metadata: { name: "mine", labels }, addressType: "IPv4", ports: [{ name: "", port: 8080 }] };
  world.create(tables.slices, { ...body, endpoints: endpoints("10.0.0.1") });
});

afterEach(() => {
  world.stop();
  for (const server of pods.values()) server.close();
  pods.clear();
});

function endpoints(...addresses: readonly string[]): readonly Fields[] {
  return addresses.map((address) => ({ addresses: [address] }));
}

function pointTo(...addresses: readonly string[]): void {
  world.update(tables.slices, "mine", () => ({ endpoints: endpoints(...addresses) }));
}

/** What a client on a node gets from the Service; `reset` if its connection is. */
async function ask(node = "fast"): Promise<string> {
  const socket = connect(await plane.reach({ node, namespace: "default", service: "web", port: 80 }));
  socket.end("hello");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    socket.on("error", () => resolve("reset"));
    socket.on("end", () => resolve(Buffer.concat(chunks).toString()));
  });
}

describe("the data plane", () => {
  test("carries a connection to an endpoint and back", async () => {
    expect(await ask()).toBe("10.0.0.1 hello");
  });

  test("listens where it is told to", async () => {
    const at = await freePlace("127.77.0.1");
    expect(await plane.reach({ node: "self", namespace: "default", service: "web", port: 80, at })).toEqual(at);
    const socket = connect(at);
    expect(String((await once(socket, "data"))[0])).toBe("10.0.0.1 ");
    socket.destroy();
  });

  test("takes the endpoints in turn", async () => {
    pointTo("10.0.0.1", "10.0.0.2");
    const answers = [await ask(), await ask(), await ask()];
    expect(answers.map((answer) => answer.split(" ")[0])).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.1"]);
  });

  test("sees a change on each node after the node's lag", async () => {
    expect([await ask("fast"), await ask("slow")]).toEqual(["10.0.0.1 hello", "10.0.0.1 hello"]);
    pointTo("10.0.0.2");
    expect([await ask("fast"), await ask("slow")]).toEqual(["10.0.0.2 hello", "10.0.0.1 hello"]);
    await world.clock.advance(4999);
    expect(await ask("slow")).toBe("10.0.0.1 hello");
    await world.clock.advance(1);
    expect(await ask("slow")).toBe("10.0.0.2 hello");
  });

  test("resets a connection for which there is no endpoint, or nothing that listens", async () => {
    pointTo();
    expect(await ask()).toBe("reset");
    pointTo("10.0.0.9");
    expect(await ask()).toBe("reset");
  });

  test("keeps an open connection when its endpoint is no longer one", async () => {
    const socket = connect(await plane.reach({ node: "fast", namespace: "default", service: "web", port: 80 }));
    await once(socket, "data");
    pointTo("10.0.0.2");
    socket.end("still");
    expect(String((await once(socket, "data"))[0])).toBe("still");
  });

  test("has one listener for a port of a Service on a node", async () => {
    const front = { node: "fast", namespace: "default", service: "web", port: 80 };
    expect(await plane.reach(front)).toEqual(await plane.reach(front));
    expect(await plane.reach({ ...front, node: "slow" })).not.toEqual(await plane.reach(front));
  });

  test("ends all connections when it is stopped, and leaves no timer", async () => {
    const socket = connect(await plane.reach({ node: "slow", namespace: "default", service: "web", port: 80 }));
    await once(socket, "data");
    pointTo("10.0.0.2");
    world.stop();
    await once(socket, "close");
    expect(world.clock.pending).toBe(0);
  });

  test("refuses to be asked before it was started", () => {
    const unused = dataPlane({ locate: () => undefined });
    expect(() => unused.reach({ node: "a", namespace: "default", service: "web", port: 80 })).toThrow(
      "has not been started",
    );
  });
});
