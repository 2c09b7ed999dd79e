import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { begin } from "./gateway-client.ts";
import { ALICE, TestCluster } from "./gateway-world.ts";

const ROUNDS = 100;
/** A second as this process has it: one that does not get to run has no ticks. */
const TICK = 10;
const SECOND = 100;

type Phase = "head" | "body" | "watch" | "tunnel";

/** A request that arrived at the API server of osaka. */
interface Arrival {
  readonly closed: Promise<unknown>;
  kill(): void;
}

let tokyo: TestCluster;
let osaka: TestCluster;
let arrived: (arrival: Arrival) => void = () => undefined;
/** Whether the API server cuts what arrives, as one that is gone. */
let isDead = false;

const path = (phase: Phase) => `/api/v1/namespaces/default/pods/${phase}/log?follow=true`;

/** Plays an API server that stops in the middle of a phase. */
function stage(request: IncomingMessage, response: ServerResponse): "handled" | "pass" {
  const [, phase] = /\/pods\/(head|body|watch)\/log/.exec(request.url ?? "") ?? [];
  if (phase === undefined) return "pass";
  if (isDead) {
    request.socket.destroy();
    return "handled";
  }
  if (phase === "body") response.writeHead(200, { "content-length": "1000" }).write("half");
  if (phase === "watch") response.writeHead(200).write("{}\n");
  arrived({ closed: once(response, "close"), kill: () => request.socket.destroy() });
  return "handled";
}

function tunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on("error", () => undefined);
  if (isDead) socket.destroy();
  else {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\nhello");
    arrived({ closed: once(socket.resume(), "close"), kill: () => socket.destroy() });
  }
}

let isTunnelled = false;
function faults(request: IncomingMessage, response: ServerResponse): "handled" | "pass" {
  if (!isTunnelled) (request.socket as unknown as { server: Server }).server.on("upgrade", tunnel);
  isTunnelled = true;
  return stage(request, response);
}

beforeAll(async () => {
  [tokyo, osaka] = await Promise.all([TestCluster.start("tokyo"), TestCluster.start("osaka", { faults })]);
  tokyo.join(osaka);
  osaka.join(tokyo);
  await Promise.all([tokyo.reload(), osaka.reload()]);
});
afterAll(async () => {
  await Promise.all([tokyo[Symbol.asyncDispose](), osaka[Symbol.asyncDispose]()]);
});

interface Client {
  kill(): void;
  /** When the phase has been reached. */
  readonly began: Promise<unknown>;
  readonly closed: Promise<unknown>;
}

/** Through osaka's own proxy, or through tokyo's to it. */
function open(phase: Phase, proxies: 1 | 2): Client {
  const cluster = proxies === 1 ? osaka : tokyo;
  const upgrade = phase === "tunnel" ? ["connection", "upgrade", "upgrade", "SPDY/3.1"] : [];
  const to = `${proxies === 1 ? "" : "/clusters/osaka"}${path(phase)}`;
  const request = begin(cluster.users, to, cluster.authority.cert, { token: ALICE, headers: upgrade });
  let tunnelled: Duplex | undefined;
  const closed = new Promise((resolve) => {
    request.once("close", resolve);
    request.once("upgrade", (_response, socket: Duplex) => socket.once("close", resolve));
    request.once("response", (response) => response.once("close", resolve));
  });
  const began =
    phase === "head"
      ? Promise.resolve()
      : new Promise((resolve) => {
          request.once("upgrade", (_response, socket: Duplex) => {
            tunnelled = socket.on("error", () => undefined);
            socket.once("data", resolve);
          });
          request.once("response", (response) => {
            response.on("error", () => undefined);
            response.once("data", resolve);
          });
        });
  request.end();
  return { kill: () => (tunnelled ?? request).destroy(), began, closed };
}

const cases = (["head", "body", "watch", "tunnel"] as const).flatMap((phase) =>
  ([1, 2] as const).flatMap((proxies) => (["client", "member"] as const).map((who) => [who, phase, proxies] as const)),
);

test.each(cases)(
  "if the %s dies in a %s through %d proxies, the other side ends and nothing stays open",
  async (...one) => {
    const [who, phase, proxies] = one;
    let [slowest, ticks] = [0, 0];
    const ticking = setInterval(() => (ticks += 1), TICK).unref();
    for (let round = 0; round < ROUNDS; round += 1) {
      isDead = false;
      const arrival = new Promise<Arrival>((resolve) => (arrived = resolve));
      const client = open(phase, proxies);
      const member = await arrival;
      await client.began;
      const since = ticks;
      if (who === "client") {
        client.kill();
        await member.closed;
      } else {
        isDead = true;
        member.kill();
        await client.closed;
      }
      slowest = Math.max(slowest, ticks - since);
    }
    clearInterval(ticking);
    expect(slowest).toBeLessThan(SECOND);
    for (const { server } of [tokyo, osaka]) {
      await eventually(() => expect(server.counts()).toMatchObject({ exchanges: 0, tunnels: 0, timers: 0 }));
      // A connection to the next server may wait for another request; those of the rounds do not add up.
      expect(server.counts().upstreamSockets).toBeLessThan(5);
    }
  },
);
