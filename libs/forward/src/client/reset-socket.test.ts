import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { resetSocket } from "./reset-socket.ts";

/** Both ends of a connection. */
async function pair() {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  const [[other]] = (await Promise.all([once(server, "connection"), once(own, "connect")])) as [[Socket], unknown];
  server.close();
  return { own, other: other.resume() };
}

describe("a connection that is broken", () => {
  test("is reset", async () => {
    const { own, other } = await pair();
    resetSocket(own);
    const [error] = (await once(other, "error")) as [Error];
    expect(error).toMatchObject({ code: "ECONNRESET" });
  });

  test.each([0, 1, 2])("while it ends is closed (%i ticks after its end)", async (ticks) => {
    const { own, other } = await pair();
    own.end("all of it");
    for (let tick = 0; tick < ticks; tick++) await new Promise<void>((resolve) => process.nextTick(resolve));
    const closed = once(own, "close");
    resetSocket(own);
    await closed;
    other.destroy();
  });
});
