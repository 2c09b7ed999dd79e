import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { HttpUpstream, Stage } from "./parts/stage.ts";
import { Wire } from "./parts/wire.ts";

const asks = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

/** A forwarder that leaves every connection unread after a request for `/last`. */
async function scene() {
  const paths: string[] = [];
  const clock = new FakeClock();
  const upstream = await HttpUpstream.start((request, response) => {
    paths.push(request.url ?? "");
    response.end(`<${request.url}>`);
  });
  const stage = await Stage.start({
    clock,
    router: {
      route: (exchange) => {
        if (exchange.path === "/last") exchange.unreadAfter();
        return { origin: upstream.origin };
      },
    },
  });
  const client = await Wire.to(stage.port);
  const witness = await Wire.to(stage.port);
  return {
    paths,
    clock,
    stage,
    client,
    /** Resolves when what other connections have sent before was read, if they are read at all. */
    async others() {
      for (let round = 0; round < 3; round++) {
        witness.clear();
        witness.send(asks("/other"));
        await witness.until("</other>");
      }
    },
    asked: () => paths.filter((path) => path !== "/other"),
    async [Symbol.asyncDispose]() {
      for (const { socket } of [client, witness]) socket.destroy();
      await stage[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

describe("a connection that is left unread after its answer", () => {
  test("has what its client sends wait until it is read on", async () => {
    await using s = await scene();
    s.client.send(asks("/last"));
    await s.client.until("</last>");
    s.client.send(asks("/next"));
    await s.others();
    expect(s.asked()).toEqual(["/last"]);
    s.stage.forwarder.readOn();
    await s.client.until("</next>");
    expect(s.asked()).toEqual(["/last", "/next"]);
  });

  test("is read again by itself after 100 ms", async () => {
    await using s = await scene();
    s.client.send(asks("/last"));
    await s.client.until("</last>");
    s.client.send(asks("/next"));
    await s.others();
    await s.clock.advance(99);
    await s.others();
    expect(s.asked()).toEqual(["/last"]);
    await s.clock.advance(51);
    await s.client.until("</next>");
  });

  test("is closed with its client's end, if that came meanwhile", async () => {
    await using s = await scene();
    s.client.send(asks("/last"));
    await s.client.until("</last>");
    s.client.socket.end();
    await s.others();
    expect(s.stage.forwarder.counts().clientSockets).toBe(2);
    s.stage.forwarder.readOn();
    await s.client.end();
    await s.others();
    expect(s.stage.forwarder.counts().clientSockets).toBe(1);
  });

  test("is none that has a request in it already, or that is closed after its answer", async () => {
    await using s = await scene();
    s.client.send(asks("/last") + asks("/next"));
    await s.client.until("</next>");
    const leaver = await Wire.to(s.stage.port);
    leaver.send(`${asks("/last").slice(0, -2)}connection: close\r\n\r\n`);
    expect(await leaver.end()).toContain("</last>");
    await s.others();
    expect(s.stage.forwarder.counts().timers).toBe(0);
  });

  test("does not hold up the end of the forwarder", async () => {
    await using s = await scene();
    s.client.send(asks("/last"));
    await s.client.until("</last>");
    expect(await s.stage.forwarder.drain(new AbortController().signal)).toBe(0);
    await s.client.end();
  });
});
