import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Keys, type State } from "@evenkeel/state";
import { eventually } from "@evenkeel/runtime/testing";
import { describeRedis, type OpenedState, openedState, RedisServer } from "../src/index.ts";

const keys = new Keys("contract");
const unfenced = { expected: "any", fence: "unfenced" } as const;

describeRedis("Redis with data of others", () => {
  let server: RedisServer;
  let opened: OpenedState;

  beforeAll(async () => {
    server = await RedisServer.start();
    opened = await openedState(server.address);
  });
  afterAll(async () => {
    await opened.close();
    await server.end();
  });

  test.each([
    ["empty", ""],
    ["without a version", '{"a":1}'],
    ["with a version of another form", 'v-1 {"a":1}'],
    ["cut off", 'v-AAAAAAAAAAAAAAAA {"a":'],
    ["binary", "\u0000\u0001\ufffd"],
  ])("a record that is %s is an error that names the key, and can be overwritten", async (_what, text) => {
    const { records } = opened.state;
    const object = randomUUID();
    await server.ask((client) => client.hset(keys.records(object), "weights", text));
    const refusal = { code: "EK_STATE_CORRUPT", message: expect.stringContaining(`${keys.records(object)} weights`) };
    await expect(records.get(object, "weights")).rejects.toMatchObject(refusal);
    await expect(records.list(object)).rejects.toMatchObject(refusal);
    await records.put(object, "weights", 1, unfenced);
    expect((await records.get(object, "weights"))?.value).toBe(1);
  });

  test("a damaged record can be deleted", async () => {
    const { records } = opened.state;
    const object = randomUUID();
    await server.ask((client) => client.hset(keys.records(object), "weights", "damaged"));
    expect(await records.delete(object, "weights", unfenced)).toBe(true);
    expect(await records.list(object)).toEqual([]);
  });

  test("a key of another type is an error that names it", async () => {
    const { records, counters, streams } = opened.state;
    const object = randomUUID();
    await server.ask(async (client) => {
      for (const key of [keys.records(object), keys.counts(object), keys.stream(object, "log")])
        await client.set(key, "x");
    });
    const naming = (key: string) => ({ code: "EK_STATE_CORRUPT", message: expect.stringContaining(key) });
    await expect(records.get(object, "a")).rejects.toMatchObject(naming(keys.records(object)));
    await expect(records.put(object, "a", 1, unfenced)).rejects.toMatchObject(naming(keys.records(object)));
    await expect(counters.sum(object)).rejects.toMatchObject(naming(keys.counts(object)));
    await expect(streams.append(object, "log", "a", 1)).rejects.toMatchObject(naming(keys.stream(object, "log")));
  });

  test.each(["no time", "99999999999999 no json", "99999999999999 []", '99999999999999 {"held":"many"}'])(
    "counts that are %j are an error that names the replica, until it reports again",
    async (text) => {
      const { counters } = opened.state;
      const object = randomUUID();
      await server.ask((client) => client.hset(keys.counts(object), "a", text));
      const refusal = { code: "EK_STATE_CORRUPT", message: expect.stringContaining(`${keys.counts(object)} a`) };
      await expect(counters.sum(object)).rejects.toMatchObject(refusal);
      await counters.report(object, "a", { held: 1 }, 1000);
      expect(await counters.sum(object)).toEqual({ held: 1 });
    },
  );

  test("an entry without text is an error that names it", async () => {
    const { streams } = opened.state;
    const object = randomUUID();
    const id = await server.ask((client) => client.xadd(keys.stream(object, "log"), "*", "other", "x"));
    const refusal = { code: "EK_STATE_CORRUPT", message: expect.stringContaining(String(id)) };
    await expect(streams.newest(object, "log", 1)).rejects.toMatchObject(refusal);
  });

  test("services that share a Redis do not meet", async () => {
    const neighbour = await openedState(server.address, { service: "neighbour" });
    const object = randomUUID();
    await neighbour.state.records.put(object, "value", 1, { expected: "any", fence: { scope: "leader", token: 9n } });
    await opened.state.records.put(object, "value", 2, { expected: "absent", fence: { scope: "leader", token: 1n } });
    expect((await neighbour.state.records.get(object, "value"))?.value).toBe(1);
    await neighbour.close();
  });

  test("a Redis that has lost its scripts gets them again", async () => {
    const { records } = opened.state;
    await records.put(randomUUID(), "value", 1, unfenced);
    await server.ask((client) => client.script("FLUSH"));
    await records.put(randomUUID(), "value", 2, unfenced);
  });

  test("a Redis that is full counts as away until it takes writes again, and still answers reads", async () => {
    const { records } = opened.state;
    const object = randomUUID();
    await records.put(object, "value", 1, unfenced);
    await server.ask((client) => client.config("SET", "maxmemory", "1"));
    await expect(records.put(object, "value", 2, unfenced)).rejects.toMatchObject({ code: "EK_STATE_UNAVAILABLE" });
    expect(opened.state.available).toBe(false);
    expect((await records.get(object, "value"))?.value).toBe(1);
    expect(opened.state.available).toBe(false);
    await server.ask((client) => client.config("SET", "maxmemory", "0"));
    await eventually(() => opened.state.available, 5000);
    await records.put(object, "value", 3, unfenced);
  });

  test("a user without rights to a command is refused in Redis's words", async () => {
    await server.ask((client) =>
      client.call("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", "-hgetall"),
    );
    const limited = await openedState(server.address.replace("//", "//limited:secret@"));
    await limited.state.records.get(randomUUID(), "value");
    const refused = limited.state.records.list(randomUUID());
    await expect(refused).rejects.toMatchObject({ code: "EK_STATE_REFUSED", recovery: "terminal" });
    await limited.close();
  });

  test("a wrong password is said in the log, without the password, and retried", async () => {
    await server.ask((client) => client.call("ACL", "SETUSER", "rotated", "on", ">new", "~*", "&*", "+@all"));
    const refused = await openedState(server.address.replace("//", "//rotated:outdated@"));
    expect(refused.state.available).toBe(false);
    expect(refused.lines.join("")).toContain("WRONGPASS");
    expect(refused.lines.join("")).not.toContain("outdated");
    await server.ask((client) => client.call("ACL", "SETUSER", "rotated", ">outdated"));
    await eventually(() => refused.state.available, 10_000);
    await refused.close();
  }, 20_000);

  test("the library makes only the documented keys", async () => {
    const { state } = opened;
    const object = randomUUID();
    await useAll(state, object);
    const made = await server.ask((client) => client.keys(`*${object}*`));
    expect(made.sort()).toEqual(
      [
        keys.records(object),
        keys.fences(object),
        keys.counts(object),
        keys.streams(object),
        keys.stream(object, "log"),
      ].sort(),
    );
  });

  test("a Redis in cluster mode takes every operation: none spans two slots", async () => {
    const cluster = await RedisServer.start("none", ["--cluster-enabled", "yes"]);
    await cluster.ask((client) => client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383"));
    await eventually(
      () => cluster.ask(async (client) => (await client.cluster("INFO")).includes("cluster_state:ok")),
      10_000,
    );
    const { state, close } = await openedState(cluster.address);
    const objects = Array.from({ length: 20 }, () => randomUUID());
    for (const object of objects) await useAll(state, object);
    const slots = await cluster.ask((client) =>
      Promise.all(objects.map((object) => client.cluster("KEYSLOT", keys.records(object)))),
    );
    expect(new Set(slots).size).toBeGreaterThan(10);
    for (const object of objects) await state.forget(object, { scope: "leader", token: 2n });
    await close();
    await cluster.end();
  }, 20_000);

  test("an object leaves nothing behind once it is forgotten and its tokens' day is over", async () => {
    const { state } = opened;
    const object = randomUUID();
    await state.records.put(object, "value", 1, { expected: "any", fence: { scope: "leader", token: 1n } });
    await state.streams.append(object, "log", "a", 1);
    await state.forget(object, { scope: "leader", token: 1n });
    const left = await server.ask((client) => client.keys(`*${object}*`));
    expect(left).toEqual([keys.fences(object)]);
    const rest = await server.ask((client) => client.pttl(keys.fences(object)));
    expect(rest).toBeGreaterThan(86_000_000);
    expect(rest).toBeLessThanOrEqual(86_400_000);
  });
});

/** Calls everything that writes, and reads it back. */
async function useAll(state: State, object: string): Promise<void> {
  const fence = { scope: "leader", token: 1n };
  await state.records.raise(object, fence);
  await state.records.put(object, "value", 1, { expected: "absent", fence });
  await state.records.put(object, "gone", 1, { expected: "any", fence: "unfenced" });
  await state.records.delete(object, "gone", { expected: "any", fence });
  await state.counters.report(object, "a", { held: 1 }, 60_000);
  await state.counters.withdraw(object, "b");
  await state.streams.append(object, "log", "entry", 1);
  await state.edges.publish(object, "wake", "edge");
  expect(await state.records.list(object)).toHaveLength(1);
  expect(await state.counters.sum(object)).toEqual({ held: 1 });
  expect((await state.streams.read(object, "log", "start", 10)).entries).toHaveLength(1);
}
