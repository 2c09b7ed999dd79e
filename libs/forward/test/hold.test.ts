import { createHash } from "node:crypto";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { type HoldWorld, KEY, RawClient, startHoldWorld } from "./parts/hold-world.ts";

const CLIENTS = 1000;
const UPLOAD = 10_000_000;
const large = Buffer.alloc(300_000, "x");

const post = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`;

/** Milliseconds. */
const TURN = 25;

/**
 * Counts how often a timer of 25 ms has run. On an idle machine that is a clock; on one so busy that this process
 * stands still half of the time it is the time in which the process could do something, which is all that can be asked
 * of it.
 */
function countTurns(): () => number {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), TURN);
  return () => {
    clearInterval(timer);
    return turns;
  };
}

let world: HoldWorld;

afterEach(() => world.stop());

describe("clients that leave while their request is held", () => {
  beforeEach(async () => {
    world = await startHoldWorld();
  });

  const reset = ({ socket }: RawClient) => socket.resetAndDestroy();
  const close = ({ socket }: RawClient) => socket.destroy();

  test.each([
    ["close inside a small upload", post("/gone", UPLOAD), Buffer.alloc(1000), close],
    ["close after a small upload", post("/gone", 1000), Buffer.alloc(1000), close],
    [
      "close with 300 KB of a large upload sent, so that the end does not even arrive",
      post("/gone", UPLOAD),
      large,
      close,
    ],
    [
      "reset with 300 KB of a large upload sent, which a paused socket does not show",
      post("/gone", UPLOAD),
      large,
      reset,
    ],
    ["close after a request without a body", get("/gone"), "", close],
  ])("%s: 1,000 of them are out of the queue within 1.5 s, and none is forwarded", async (_name, head, body, leave) => {
    const { hold, forwarder, origin, arrivals, outcomes } = world;
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => RawClient.open(forwarder.port, head, body)),
    );
    await eventually(() => hold.waiting(KEY).count === CLIENTS);
    const turns = countTurns();
    for (const client of clients) leave(client);
    await eventually(() => hold.waiting(KEY).count === 0);
    expect(turns()).toBeLessThanOrEqual(1500 / TURN);
    expect(hold.waiting()).toEqual({ count: 0, bytes: 0 });
    expect(outcomes).toEqual(new Map([["clientGone", CLIENTS]]));
    expect(forwarder.counts()).toMatchObject({ exchanges: 0, clientSockets: 0 });
    hold.offer(KEY, origin, 100);
    const last = await RawClient.open(forwarder.port, get("/last"));
    expect(await last.answer()).toMatch(/^HTTP\/1\.1 200 /);
    expect(arrivals.map(({ path }) => path)).toEqual(["/last"]);
  });

  test("take the requests with them that they had sent behind the held one", async () => {
    const { hold, forwarder, outcomes } = world;
    const client = await RawClient.open(forwarder.port, get("/first").replace("close", "keep-alive"), get("/second"));
    await eventually(() => forwarder.counts().exchanges === 2);
    expect(hold.waiting(KEY).count).toBe(1);
    client.socket.destroy();
    await eventually(() => forwarder.counts().exchanges === 0);
    expect(hold.waiting(KEY).count).toBe(0);
    expect(Object.fromEntries(outcomes)).toEqual({ clientGone: 1 });
  });

  test("do not disturb the others: their uploads arrive whole, after nothing but 100 Continue", async () => {
    const { hold, forwarder, origin, arrivals } = world;
    const body = Buffer.alloc(3_000_000, "stay");
    const digest = createHash("sha1").update(body).digest("hex");
    const stays = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        RawClient.open(forwarder.port, post(`/stay/${index}`, body.length), body),
      ),
    );
    const leaves = await Promise.all(
      Array.from({ length: 20 }, () => RawClient.open(forwarder.port, post("/gone", UPLOAD), large)),
    );
    await eventually(() => hold.waiting(KEY).count === 40);
    await eventually(() => stays.every(({ received }) => received !== ""));
    for (const { socket } of leaves) socket.destroy();
    await eventually(() => hold.waiting(KEY).count === 20);
    hold.offer(KEY, origin, 4);
    const answers = await Promise.all(stays.map((client) => client.answer()));
    for (const answer of answers) expect(answer).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+HTTP\/1\.1 200 OK\r\n/);
    expect(arrivals.map(({ digest }) => digest)).toEqual(Array.from({ length: 20 }, () => digest));
    expect(arrivals.some(({ path }) => path === "/gone")).toBe(false);
  });
});

test("without probes the end of a large upload that nobody reads stays hidden, which is why there are probes", async () => {
  world = await startHoldWorld({ probe: 0 });
  const { hold, forwarder } = world;
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => RawClient.open(forwarder.port, post("/gone", UPLOAD), large)),
  );
  await eventually(() => hold.waiting(KEY).count === 20);
  const small = await RawClient.open(forwarder.port, get("/gone-too"));
  await eventually(() => hold.waiting(KEY).count === 21);
  for (const { socket } of [...clients, small]) socket.destroy();
  // The end of a request that has no body is noticed, those of the others are not.
  await eventually(() => hold.waiting(KEY).count === 20);
  expect(hold.waiting(KEY).count).toBe(20);
});

describe("held requests", () => {
  test("are released in the order of their arrival, eight at once where the upstream takes eight, over few connections", async () => {
    world = await startHoldWorld({ answerAfter: 5 });
    const { hold, forwarder, origin, entries, arrivals, most } = world;
    const clients: RawClient[] = [];
    for (let index = 0; index < 200; index++) {
      const entered = once(entries, "entered");
      clients.push(await RawClient.open(forwarder.port, get(`/${index}`)));
      await entered;
    }
    hold.offer(KEY, origin, 8);
    const answers = await Promise.all(clients.map((client) => client.answer()));
    expect(answers.every((answer) => answer.startsWith("HTTP/1.1 200 OK"))).toBe(true);
    expect(most.requests).toBe(8);
    // A connection that is free this very moment is sometimes not seen yet, and then another one is opened.
    expect(most.connections).toBeLessThanOrEqual(16);
    // Eight are under way at once and may overtake one another, no more.
    const order = arrivals.map(({ path }) => Number(path.slice(1)));
    for (const [position, index] of order.entries()) expect(Math.abs(position - index)).toBeLessThan(16);
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, index) => index));
  });

  test("get the owner's answer when nothing comes in time, and when the owner drains", async () => {
    world = await startHoldWorld({ wait: 300 });
    const { hold, forwarder, outcomes } = world;
    const late = await RawClient.open(forwarder.port, post("/late", UPLOAD), large);
    expect(await late.answer()).toMatch(/HTTP\/1\.1 503 [^]*evenkeel-error: deadline/);
    const drained = await RawClient.open(forwarder.port, get("/drained"));
    await eventually(() => hold.waiting(KEY).count === 1);
    hold.drain();
    expect(await drained.answer()).toMatch(/^HTTP\/1\.1 503 [^]*evenkeel-error: drained/);
    expect(Object.fromEntries(outcomes)).toEqual({ deadline: 1, drained: 1 });
  });

  test("of HTTP/1.0 get no interim answer, which it does not know", async () => {
    world = await startHoldWorld();
    const { hold, forwarder, origin } = world;
    const head = `POST /old HTTP/1.0\r\nHost: a.test\r\nContent-Length: ${large.length}\r\n\r\n`;
    const client = await RawClient.open(forwarder.port, head, large);
    await eventually(() => hold.waiting(KEY).count === 1);
    const control = await RawClient.open(forwarder.port, post("/new", large.length), large);
    await eventually(() => control.received.startsWith("HTTP/1.1 100 Continue"));
    expect(client.received).toBe("");
    hold.offer(KEY, origin, 2);
    expect(await client.answer()).toMatch(/^HTTP\/1\.1 200 /);
    await control.answer();
  });
});
