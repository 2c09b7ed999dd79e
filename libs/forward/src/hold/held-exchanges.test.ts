import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { Destination, Origin } from "../destination.ts";
import type { Exchange } from "../exchange.ts";
import { heldBytes, HeldExchanges, type HeldExchangesOptions } from "./held-exchanges.ts";

const pod: Origin = { host: "127.0.0.1", port: 8080, protocol: "http1" };
const ROOM = { count: 3, bytes: 1_000_000 };

function newExchange(head: Partial<Exchange> = {}) {
  let gone = false;
  const exchange: Exchange = {
    method: "GET",
    path: "/",
    host: "a.test",
    headers: [],
    protocol: "http/1.1",
    scheme: "http",
    remoteAddress: "127.0.0.1",
    listener: "main",
    upgrade: undefined,
    hasBody: false,
    header: (name) => head.headers?.[head.headers.indexOf(name) + 1],
    whenLeft: undefined,
    get left() {
      return gone;
    },
    closeAfter: () => undefined,
    unreadAfter: () => undefined,
    ...head,
  };
  const leave = () => {
    gone = true;
    exchange.whenLeft?.left();
  };
  return { exchange, leave };
}

function newHeld(options: Partial<HeldExchangesOptions> = {}) {
  const clock = new FakeClock();
  const ends: string[] = [];
  const held = new HeldExchanges({
    clock,
    perKey: ROOM,
    overall: ROOM,
    refuse: (key, outcome) => ({ status: 503, code: `${key}-${outcome}` }),
    observe: (key, outcome, waited) => ends.push(`${key} ${outcome} ${waited}`),
    ...options,
  });
  return { clock, held, ends };
}

function codeOf(destination: Destination): string | undefined {
  return "refuse" in destination ? destination.refuse.code : undefined;
}

describe("held exchanges", () => {
  test("go to the origin as soon as one is offered, and give their slot back when they are settled", async () => {
    const { held, ends } = newHeld();
    const settled: string[] = [];
    const forward = { path: "/other", settled: () => settled.push("first") };
    const first = held.route(newExchange().exchange, { key: "a", wait: 1000, forward });
    const second = held.route(newExchange().exchange, { key: "a", wait: 1000 });
    held.hold.offer("a", pod, 1);
    const destination = await first;
    expect(destination).toMatchObject({ origin: pod, path: "/other" });
    expect(ends).toEqual(["a released 0"]);
    if ("origin" in destination) destination.settled?.({ status: 200, end: "answered" });
    expect(settled).toEqual(["first"]);
    expect(await second).toMatchObject({ origin: pod });
    expect(ends).toEqual(["a released 0", "a released 0"]);
  });

  test("need no promise while there is a slot", () => {
    const { held } = newHeld();
    held.hold.offer("a", pod, 1);
    expect(held.route(newExchange().exchange, { key: "a", wait: 1000 })).toMatchObject({ origin: pod });
  });

  test("are refused at once where there is no room, and after their wait where nothing came", async () => {
    const { clock, held, ends } = newHeld();
    const waits = [1, 2, 3].map(() => held.route(newExchange().exchange, { key: "a", wait: 1000 }));
    const surplus = held.route(newExchange().exchange, { key: "a", wait: 1000 });
    expect(surplus).toMatchObject({ refuse: { status: 503, code: "a-overflowCount" } });
    await clock.advance(1100);
    for (const wait of waits) expect(codeOf(await wait)).toBe("a-deadline");
    expect(ends).toHaveLength(4);
  });

  test("leave the line when their client does", () => {
    const { held, ends } = newHeld();
    const { exchange, leave } = newExchange();
    void held.route(exchange, { key: "a", wait: 1000 });
    leave();
    expect(ends).toEqual(["a clientGone 0"]);
    expect(held.hold.waiting()).toEqual({ count: 0, bytes: 0 });
  });

  test("whose client left before are not held", () => {
    const { held, ends } = newHeld();
    const { exchange, leave } = newExchange();
    leave();
    expect(held.route(exchange, { key: "a", wait: 1000 })).toMatchObject({ refuse: { code: "a-clientGone" } });
    expect(ends).toEqual(["a clientGone 0"]);
  });

  test("keep their outcome when the client leaves after the release", async () => {
    const { held, ends } = newHeld();
    const { exchange, leave } = newExchange();
    const destination = held.route(exchange, { key: "a", wait: 1000 });
    held.hold.offer("a", pod, 1);
    leave();
    expect(await destination).toMatchObject({ origin: pod });
    expect(ends).toEqual(["a released 0"]);
  });
});

describe("the bytes of a held exchange", () => {
  test.each([
    ["are those of its head where it has no body", { path: "/12345", headers: ["name", "value"] }, 6 + 6 + 9],
    [
      "include a body that fits the stream's buffer",
      { hasBody: true, headers: ["content-length", "1000"] },
      1 + 6 + 18 + 1000,
    ],
    [
      "include no more of a body than the stream buffers",
      { hasBody: true, headers: ["content-length", "9000000"] },
      1 + 6 + 21 + 65_536,
    ],
    ["include a whole buffer where the body's length is not said", { hasBody: true }, 1 + 6 + 65_536],
  ])("%s", (_name, head, bytes) => {
    const { exchange } = newExchange({ ...head, ...("headers" in head ? {} : { header: () => undefined }) });
    expect(heldBytes(exchange)).toBe(bytes);
  });
});
