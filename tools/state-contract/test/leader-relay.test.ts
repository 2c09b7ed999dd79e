import { LeaderRelay } from "@evenkeel/operator";
import { systemClock, termUntil } from "@evenkeel/runtime";
import { eventually, silentLog } from "@evenkeel/runtime/testing";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { describeRedis, openedState, type OpenedState, RedisServer } from "../src/index.ts";

describeRedis("a relay of calls to the leader over Redis", () => {
  let server: RedisServer;
  let opened: OpenedState[];
  let relays: LeaderRelay[];
  beforeEach(async () => {
    server = await RedisServer.start();
    opened = [];
    relays = [];
  });
  afterEach(async () => {
    for (const relay of relays) relay.stop();
    for (const { close } of opened) await close();
    await server.end();
  });

  /** A replica with a connection of its own, which answers with its name and what it was asked. */
  async function replica(instance: string) {
    const handle = await openedState(server.address, { deadline: 10_000 });
    opened.push(handle);
    const relay = new LeaderRelay({
      name: "drains",
      state: handle.state,
      instance,
      clock: systemClock,
      log: silentLog(),
    });
    relay.answerBy((method, request) => Buffer.from(`${instance}: ${method} ${String(Buffer.from(request))}`));
    relay.start();
    relays.push(relay);
    const ask = async (text: string) => {
      const answer = await relay.ask("Prepare", Buffer.from(text));
      return answer && String(Buffer.from(answer));
    };
    return { relay, ask };
  }

  test("reaches the leader from another process, and the next leader after it", async () => {
    const [one, two, other] = [await replica("one"), await replica("two"), await replica("other")];
    const first = new AbortController();
    const over = one.relay.lead(termUntil(first.signal, 1n));
    // A subscription may be in effect a moment after the start.
    await eventually(async () => expect(await other.ask("pod-0")).toBe("one: Prepare pod-0"));
    first.abort();
    await over;
    const second = new AbortController();
    void two.relay.lead(termUntil(second.signal, 2n));
    expect(await other.ask("pod-1")).toBe("two: Prepare pod-1");
    expect(await one.ask("pod-2")).toBe("two: Prepare pod-2");
  });

  test("gives up when Redis is away", async () => {
    const other = await replica("other");
    await server.end();
    expect(await other.ask("pod-0")).toBeUndefined();
  });
});
