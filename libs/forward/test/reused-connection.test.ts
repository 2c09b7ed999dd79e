import { describe, expect, test } from "@jest/globals";
import type { Failure, Origin } from "../src/index.ts";
import { Stage } from "./parts/stage.ts";
import { Wire, WireServer } from "./parts/wire.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const at = (port: number): Origin => ({ host: "127.0.0.1", port, protocol: "http1" });
const BODY = "content-length: 4\r\n\r\nbody";

/**
 * A forwarder with two upstreams. The first has answered one request, by a connection that is kept. The second is for
 * retries.
 */
async function scene(warm: string) {
  const first = await WireServer.start();
  const second = await WireServer.start();
  const origin = at(first.port);
  const failures: Failure[] = [];
  const stage = await Stage.start({
    router: {
      route: () => ({ origin }),
      retry: (_exchange, failure) => {
        failures.push(failure);
        return { origin: at(second.port) };
      },
    },
  });
  const client = await Wire.to(stage.port);
  client.send(warm);
  const used = await first.next();
  await used.until("\r\n\r\n");
  if (warm.endsWith("body")) await used.until("body");
  used.send(OK);
  await client.until("ok");
  used.clear();
  client.clear();
  let closed = false;
  return {
    ...{ first, second, failures, client, used },
    /** The first upstream dies: its connections break, and nobody listens. */
    async die() {
      closed = true;
      used.socket.resetAndDestroy();
      await first[Symbol.asyncDispose]();
    },
    async [Symbol.asyncDispose]() {
      client.socket.destroy();
      await stage[Symbol.asyncDispose]();
      if (!closed) await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

describe("a connection to an upstream that was used before and breaks before a byte of the answer", () => {
  test.each(["GET", "HEAD", "OPTIONS", "DELETE"])(
    "costs a %s without a body nothing: it is sent again",
    async (method) => {
      const bytes = `${method} / HTTP/1.1\r\nhost: a\r\n\r\n`;
      await using s = await scene("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      s.client.send(bytes);
      await s.used.until("\r\n\r\n");
      expect(s.first.wires).toHaveLength(1);
      s.used.socket.resetAndDestroy();
      const again = await s.second.next();
      expect(await again.until("\r\n\r\n")).toMatch(new RegExp(`^${method} `));
      again.send(method === "HEAD" ? OK.slice(0, -2) : OK);
      expect(await s.client.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
      expect(s.failures).toEqual([expect.objectContaining({ kind: "reset", tries: 1, repeatable: true })]);
    },
  );

  test.each(["POST", "PUT"])("costs a %s a 502 if its body was sent: it is not sent again", async (method) => {
    const bytes = `${method} / HTTP/1.1\r\nhost: a\r\n${BODY}`;
    await using s = await scene(bytes);
    s.client.send(bytes);
    await s.used.until("body");
    expect(s.first.wires).toHaveLength(1);
    s.used.socket.resetAndDestroy();
    expect(await s.client.until("EK_FORWARD_BROKEN: ")).toMatch(/^HTTP\/1\.1 502 /);
    expect(s.failures).toEqual([]);
    expect(s.second.wires).toEqual([]);
  });

  test("costs a POST nothing if it broke before the POST came: nothing was sent", async () => {
    const bytes = `POST / HTTP/1.1\r\nhost: a\r\n${BODY}`;
    await using s = await scene(bytes);
    await s.die();
    s.client.send(bytes);
    const again = await s.second.next();
    await again.until("body");
    again.send(OK);
    await s.client.until("ok");
    expect(s.failures).toEqual([expect.objectContaining({ kind: "connect", repeatable: true })]);
  });

  test("costs an upload nothing if its client waits for 100 Continue: its body was not sent yet", async () => {
    const bytes = `PUT / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n`;
    await using s = await scene(`POST / HTTP/1.1\r\nhost: a\r\n${BODY}`);
    s.client.send(bytes);
    await s.used.until("\r\n\r\n");
    s.used.socket.resetAndDestroy();
    const again = await s.second.next();
    await again.until("\r\n\r\n");
    again.send("HTTP/1.1 100 Continue\r\n\r\n");
    await s.client.until("100 Continue");
    s.client.send("body");
    await again.until("body");
    again.send(OK);
    await s.client.until("ok");
  });
});
