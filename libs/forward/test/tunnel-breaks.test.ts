import { describe, expect, test } from "@jest/globals";
import { Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const UPGRADE = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n";
const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n";

/** A tunnel on which both sides have said something. */
async function tunnel(kind: "opaque" | "upgraded") {
  const upstream = await WireServer.start({}, { allowHalfOpen: true });
  const stage = await Stage.start({ opaque: () => "unlessHttp", origin: upstream.origin });
  const client = await Wire.to(stage.port, { allowHalfOpen: true });
  if (kind === "upgraded") client.send(UPGRADE);
  client.send("*part");
  const server = await upstream.next();
  if (kind === "upgraded") server.send(SWITCHING);
  await server.until("*part");
  server.send("a part of an answer");
  await client.until("a part of an answer");
  return {
    stage,
    client,
    server,
    async [Symbol.asyncDispose]() {
      client.socket.destroy();
      await stage[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const reset = { code: "ECONNRESET" };

/** Data of a protocol that is delimited by the end of the connection must not look complete. */
describe.each(["opaque", "upgraded"] as const)("a tunnel (%s)", (kind) => {
  test.each([
    ["client", "server"],
    ["server", "client"],
  ] as const)("whose %s is reset is reset at the %s", async (broken, other) => {
    await using scene = await tunnel(kind);
    scene[broken].reset();
    await scene[other].end();
    expect(scene[other].failed).toMatchObject(reset);
    await scene.stage.settled({ exchanges: 0, tunnels: 0, clientSockets: 0, upstreamSockets: 0 });
  });

  test("that is cut by a drain is reset at both ends", async () => {
    await using scene = await tunnel(kind);
    expect(await scene.stage.forwarder.drain(AbortSignal.abort())).toBe(1);
    for (const end of ["client", "server"] as const) {
      await scene[end].end();
      expect(scene[end].failed).toMatchObject(reset);
    }
  });
});
