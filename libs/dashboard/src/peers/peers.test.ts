import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { type Clock, systemClock } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { TideKeeper } from "../testing/tide-keeper.ts";
import { Peers } from "./peers.ts";

async function listen(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispose = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, [Symbol.dispose]: dispose };
}

function peersAt(url: string, clock: Clock = systemClock, deadline = 10_000): Peers {
  return new Peers({ peers: [{ name: "tide", url, dashboard: "https://tide.example/" }], deadline, clock });
}

describe("a peer", () => {
  test("is shown with what it says of itself and decided last, texts cut", async () => {
    await using peer = await new TideKeeper("file:///none/src/main.ts").run();
    const first = peer.decide("fore", 80);
    const second = peer.decide("x".repeat(600), 20);
    expect(await peersAt(peer.url).states()).toEqual([
      {
        name: "tide",
        dashboard: "https://tide.example/",
        askedAt: expect.stringMatching(/^\d{4}-/),
        up: true,
        service: "tide-keeper",
        version: "1.2.3",
        phase: expect.any(String),
        uptime: expect.any(Number),
        unready: expect.any(Array),
        decisions: [
          {
            ...second,
            object: { ...second.object, name: "x".repeat(500) },
            message: second.message.slice(0, 500),
          },
          first,
        ],
      },
    ]);
  });

  test("that refuses connections is down, and says so", async () => {
    const gone = await new TideKeeper("file:///none/src/main.ts").run();
    const { url } = gone;
    await gone.stop();
    expect(await peersAt(url).states()).toMatchObject([
      { name: "tide", up: false, fault: expect.stringContaining("ECONNREFUSED") },
    ]);
  });

  test("that hangs is down at the deadline", async () => {
    using silent = await listen(() => undefined);
    const clock = new FakeClock();
    const states = peersAt(silent.url, clock, 2000).states();
    await clock.advance(2000);
    expect(await states).toMatchObject([{ up: false, fault: expect.stringContaining("2000") }]);
  });

  test.each<[string, string, RequestListener]>([
    ["speaks no JSON", "not JSON", (_request, response) => response.end("<html>")],
    ["answers with other JSON", "no service of this family", (_request, response) => response.end("[]")],
    ["fails", "status 500", (_request, response) => response.writeHead(500).end()],
    [
      "sends on elsewhere",
      "status 302",
      (_request, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    ],
    ["answers without end", "more than", (_request, response) => response.end("x".repeat(600 * 1024))],
  ])("that %s is down", async (_name, fault, answer) => {
    using server = await listen(answer);
    expect(await peersAt(server.url).states()).toMatchObject([{ up: false, fault: expect.stringContaining(fault) }]);
  });
});

test("a peer is asked once a second, however many pages ask", async () => {
  let asked = 0;
  using server = await listen((_request, response) => {
    asked += 1;
    response.end("{}");
  });
  const clock = new FakeClock();
  const peers = peersAt(server.url, clock);
  await Promise.all([peers.states(), peers.states(), peers.states()]);
  expect(asked).toBe(2);
  await clock.advance(1000);
  await peers.states();
  expect(asked).toBe(4);
});
