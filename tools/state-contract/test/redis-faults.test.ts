import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "@jest/globals";
import { CodedError } from "@evenkeel/runtime";
import type { Notice, State } from "@evenkeel/state";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis, type OpenedState, openedState, type Persistence, RedisServer } from "../src/index.ts";

const DEADLINE = 500;

/** What the machine may add to a deadline: it is shared and its timers are late. */
const SLACK = 1500;

const unfenced = { expected: "any", fence: "unfenced" } as const;
const away = ["EK_STATE_UNAVAILABLE", "EK_STATE_NO_ANSWER"];

describeRedis("Redis that fails", () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function given(persistence: Persistence = "none"): Promise<{ server: RedisServer } & OpenedState> {
    const server = await RedisServer.start(persistence);
    ends.push(() => server.end());
    const opened = await openedState(server.address, { deadline: DEADLINE });
    ends.push(() => opened.close());
    return { server, ...opened };
  }

  test("calls fail at once while Redis is gone, with an error that says to try again", async () => {
    const { server, state, registry } = await given();
    expect(state.available).toBe(true);
    await server.kill();
    await eventually(() => !state.available, 5000);
    const started = performance.now();
    for (const call of everyCall(state)) {
      await expect(call()).rejects.toMatchObject({ code: "EK_STATE_UNAVAILABLE", recovery: "retryable" });
    }
    expect(performance.now() - started).toBeLessThan(DEADLINE);
    expect(await registry.text()).toContain("evenkeel_state_available 0");
    expect(state.unready?.()).toBeUndefined();
  });

  test("no call hangs beyond its deadline while Redis does, and the loss is noticed", async () => {
    const { server, state } = await given();
    server.hang();
    const started = performance.now();
    const ended = await Promise.allSettled(everyCall(state).map((call) => call()));
    expect(performance.now() - started).toBeLessThan(DEADLINE + SLACK);
    for (const end of ended) {
      expect(end.status).toBe("rejected");
      expect(away).toContain(codeOf(end));
    }
    await eventually(() => !state.available, 5000);
    server.goOn();
    await eventually(() => state.available, 10_000);
    await state.records.put(randomUUID(), "value", 1, unfenced);
  }, 20_000);

  test("an idle connection to a Redis that hangs is noticed without a call", async () => {
    const { server, state } = await given();
    const changed = Promise.withResolvers<boolean>();
    state.onAvailability(changed.resolve);
    server.hang();
    expect(await changed.promise).toBe(false);
    server.goOn();
    await eventually(() => state.available, 10_000);
  }, 20_000);

  test("calls in flight when Redis is killed end, none hangs", async () => {
    const { server, state } = await given();
    server.hang();
    const calls = Array.from({ length: 200 }, (_, index) => state.records.put(randomUUID(), "value", index, unfenced));
    const ended = Promise.allSettled(calls);
    await server.kill();
    for (const end of await ended) expect(away).toContain(codeOf(end));
  });

  test("memory is bounded while Redis hangs: calls beyond a thousand fail at once, and nothing is kept of them", async () => {
    const { server, state } = await given();
    server.hang();
    const text = "x".repeat(100_000);
    const first = Array.from({ length: 1000 }, () => state.edges.publish(randomUUID(), "topic", "1"));
    const ended = Promise.allSettled(first);
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    for (let index = 0; index < 5000; index++) {
      await expect(state.edges.publish(randomUUID(), "topic", text)).rejects.toMatchObject({
        code: "EK_STATE_UNAVAILABLE",
      });
    }
    const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    // 5000 texts would be 500 MB.
    expect(after - before).toBeLessThan(100_000_000);
    await ended;
    server.goOn();
  }, 20_000);

  test("memory is bounded while Redis is gone: nothing is queued", async () => {
    const { server, state } = await given();
    await server.kill();
    await eventually(() => !state.available, 5000);
    const text = "x".repeat(100_000);
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    for (let index = 0; index < 5000; index++)
      await state.edges.publish(randomUUID(), "topic", text).catch(() => undefined);
    const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    expect(after - before).toBeLessThan(100_000_000);
  }, 20_000);

  test("no acknowledged write is lost when Redis is killed and started again, appending always", async () => {
    const { server, state } = await given("always");
    const object = randomUUID();
    const acknowledged: number[] = [];
    const writing = (async () => {
      for (let index = 0; index < 100_000; index++) {
        try {
          await state.records.put(object, `r${index}`, index, {
            expected: "any",
            fence: { scope: "leader", token: BigInt(index) },
          });
          acknowledged.push(index);
        } catch (error) {
          return error;
        }
      }
      return undefined;
    })();
    await eventually(() => acknowledged.length > 200, 10_000);
    await server.kill();
    expect(away).toContain(((await writing) as CodedError).code);
    await server.run();
    await eventually(() => state.available, 10_000);
    const kept = new Set((await state.records.list(object)).map(({ value }) => value));
    expect(acknowledged.filter((index) => !kept.has(index))).toEqual([]);
    const lower = { expected: "any", fence: { scope: "leader", token: BigInt(acknowledged.length - 2) } } as const;
    await expect(state.records.put(object, "late", 1, lower)).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
  }, 30_000);

  test("subscribers resume after a restart, and are told that they may have missed something", async () => {
    const { server, state, registry } = await given();
    const object = randomUUID();
    const notices: Notice[] = [];
    state.edges.subscribe(object, "wake", (notice) => notices.push(notice));
    await eventually(() => notices.length === 1, 5000);
    await server.kill();
    await server.run();
    await eventually(() => notices.length === 2, 10_000);
    await eventually(async () => {
      await state.edges.publish(object, "wake", "after");
      return notices.some(({ kind }) => kind === "edge");
    }, 5000);
    expect(notices.slice(0, 3)).toEqual([{ kind: "gap" }, { kind: "gap" }, { kind: "edge", text: "after" }]);
    expect(await registry.text()).toContain("evenkeel_state_gaps_total 1");
  }, 20_000);

  test("a lost subscription is a gap, even if calls go on", async () => {
    const { server, state } = await given();
    const notices: Notice[] = [];
    state.edges.subscribe(randomUUID(), "wake", (notice) => notices.push(notice));
    await eventually(() => notices.length === 1, 5000);
    await server.ask((client) => client.call("CLIENT", "KILL", "TYPE", "pubsub"));
    await eventually(() => notices.length === 2, 10_000);
    expect(notices).toEqual([{ kind: "gap" }, { kind: "gap" }]);
    expect(state.available).toBe(true);
  }, 20_000);

  test("who subscribes while Redis is gone hears once it is back", async () => {
    const { server, state } = await given();
    await server.kill();
    await eventually(() => !state.available, 5000);
    const notices: Notice[] = [];
    state.edges.subscribe(randomUUID(), "wake", (notice) => notices.push(notice));
    await server.run();
    await eventually(() => notices.length > 0, 10_000);
    expect(notices).toEqual([{ kind: "gap" }]);
  }, 20_000);

  test("a tail goes on where it was after a restart, with nothing missed and nothing twice", async () => {
    const { server, state } = await given("always");
    const object = randomUUID();
    const ending = new AbortController();
    const seen: string[] = [];
    const tailing = (async () => {
      for await (const item of state.streams.tail(object, "log", "start", ending.signal)) {
        seen.push("gap" in item ? "gap" : item.text);
      }
    })();
    await state.streams.append(object, "log", "before", 100);
    await eventually(() => seen.length === 1, 5000);
    await server.kill();
    await server.run();
    await eventually(() => state.available, 10_000);
    await state.streams.append(object, "log", "after", 100);
    await eventually(() => seen.length === 2, 10_000);
    expect(seen).toEqual(["before", "after"]);
    ending.abort();
    await tailing;
  }, 30_000);

  test("a tail of a Redis that has forgotten everything tells of the gap and goes on", async () => {
    const { server, state } = await given("none");
    const object = randomUUID();
    const ending = new AbortController();
    const seen: string[] = [];
    const tailing = (async () => {
      for await (const item of state.streams.tail(object, "log", "start", ending.signal)) {
        seen.push("gap" in item ? "gap" : item.text);
      }
    })();
    await state.streams.append(object, "log", "before", 100);
    await eventually(() => seen.length === 1, 5000);
    await server.kill();
    await server.run();
    await eventually(() => seen.length === 2, 10_000);
    await eventually(() => state.available, 10_000);
    await state.streams.append(object, "log", "after", 100);
    await eventually(() => seen.length === 3, 10_000);
    expect(seen).toEqual(["before", "gap", "after"]);
    ending.abort();
    await tailing;
  }, 30_000);

  test("a service starts without Redis, says so, and finds it later", async () => {
    const server = await RedisServer.start();
    ends.push(() => server.end());
    await server.kill();
    const started = performance.now();
    const { state, lines, close } = await openedState(server.address, { deadline: DEADLINE });
    ends.push(close);
    expect(performance.now() - started).toBeLessThan(DEADLINE + SLACK);
    expect(state.available).toBe(false);
    expect(lines.join("")).toMatch(/redis:.*ECONNREFUSED/);
    await server.run();
    await eventually(() => state.available, 10_000);
  }, 20_000);
});

function everyCall(state: State): readonly (() => Promise<unknown>)[] {
  const object = randomUUID();
  const fence = { scope: "leader", token: 1n };
  return [
    () => state.records.get(object, "a"),
    () => state.records.list(object),
    () => state.records.put(object, "a", 1, unfenced),
    () => state.records.delete(object, "a", unfenced),
    () => state.records.raise(object, fence),
    () => state.forget(object, fence),
    () => state.counters.report(object, "a", { held: 1 }, 1000),
    () => state.counters.withdraw(object, "a"),
    () => state.counters.sum(object),
    () => state.streams.append(object, "log", "a", 10),
    () => state.streams.read(object, "log", "start", 10),
    () => state.streams.newest(object, "log", 10),
    () => state.edges.publish(object, "wake", "a"),
  ];
}

function codeOf(end: PromiseSettledResult<unknown>): string {
  return end.status === "rejected" && end.reason instanceof CodedError ? end.reason.code : end.status;
}
