import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Replicas } from "./replicas.ts";
import type { Fence, Version } from "../state.ts";

const unfenced = { expected: "any", fence: "unfenced" } as const;
const leader = (token: bigint): Fence => ({ scope: "leader", token });
const as = (token: bigint) => ({ expected: "any", fence: leader(token) }) as const;

export function recordsContract(given: () => Replicas): void {
  test("a record that was never written is absent", async () => {
    expect(await given().one.records.get(randomUUID(), "weights")).toBeUndefined();
  });

  test("another replica reads what one has written, with its version", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const value = { weights: [16, 240], site: "København", none: null };
    const version = await one.records.put(object, "weights", value, unfenced);
    expect(await other.records.get(object, "weights")).toEqual({ name: "weights", value, version });
  });

  test.each([
    ["a string", "text with spaces\nand lines\u0000"],
    ["a number", 0.1],
    ["false", false],
    ["null", null],
    ["an empty list", []],
    ["a key that is a trap", JSON.parse('{"__proto__": {"polluted": true}}') as unknown],
  ])("a record can be %s", async (_what, value) => {
    const { records } = given().one;
    const object = randomUUID();
    await records.put(object, "value", value, unfenced);
    const read = await records.get(object, "value");
    expect(JSON.stringify(read?.value)).toBe(JSON.stringify(value));
  });

  test.each([
    ["undefined", undefined],
    ["a bigint", 1n],
  ])("%s cannot be a record, and nothing is written", async (_what, value) => {
    const { records } = given().one;
    const object = randomUUID();
    await expect(records.put(object, "value", value, unfenced)).rejects.toMatchObject({
      code: "EK_STATE_BAD_ARGUMENT",
    });
    expect(await records.list(object)).toEqual([]);
  });

  test("a record of more than a mebibyte is refused, and nothing is written", async () => {
    const { records } = given().one;
    const object = randomUUID();
    const write = records.put(object, "value", "x".repeat(1024 * 1024), unfenced);
    await expect(write).rejects.toMatchObject({ code: "EK_STATE_TOO_LARGE" });
    expect(await records.list(object)).toEqual([]);
  });

  test.each(["", "a b", "a{b}", "a\nb", "ä", "x".repeat(254)])("%j cannot be a name", async (name) => {
    const { records } = given().one;
    const refusal = { code: "EK_STATE_BAD_ARGUMENT" };
    await expect(records.put(randomUUID(), name, 1, unfenced)).rejects.toMatchObject(refusal);
    await expect(records.get(name, "record")).rejects.toMatchObject(refusal);
  });

  test("list gives all records of the object by name, and none of another", async () => {
    const { one, other } = given();
    const object = randomUUID();
    for (const name of ["b", "a", "__proto__", "c"]) await one.records.put(object, name, name, unfenced);
    await one.records.put(randomUUID(), "d", "d", unfenced);
    const listed = await other.records.list(object);
    expect(listed.map(({ name, value }) => [name, value])).toEqual([
      ["__proto__", "__proto__"],
      ["a", "a"],
      ["b", "b"],
      ["c", "c"],
    ]);
  });

  test("a write that expects absence happens once", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const terms = { expected: "absent", fence: "unfenced" } as const;
    await one.records.put(object, "owner", "one", terms);
    await expect(other.records.put(object, "owner", "other", terms)).rejects.toMatchObject({
      code: "EK_STATE_CONFLICT",
    });
    expect((await one.records.get(object, "owner"))?.value).toBe("one");
  });

  test("a write that expects a version happens only at that version", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const first = await one.records.put(object, "count", 1, unfenced);
    const second = await other.records.put(object, "count", 2, { expected: first, fence: "unfenced" });
    expect(second).not.toBe(first);
    const late = one.records.put(object, "count", 3, { expected: first, fence: "unfenced" });
    await expect(late).rejects.toMatchObject({ code: "EK_STATE_CONFLICT", recovery: "terminal" });
    expect(await one.records.get(object, "count")).toEqual({ name: "count", value: 2, version: second });
  });

  test("a version does not come back when the same value is written again", async () => {
    const { records } = given().one;
    const object = randomUUID();
    const first = await records.put(object, "value", "same", unfenced);
    await records.delete(object, "value", unfenced);
    await records.put(object, "value", "same", unfenced);
    const write = records.put(object, "value", "late", { expected: first, fence: "unfenced" });
    await expect(write).rejects.toMatchObject({ code: "EK_STATE_CONFLICT" });
  });

  test("a version that no write had conflicts", async () => {
    const { records } = given().one;
    const expected: Version = "v-neverwrittenneve";
    const write = records.put(randomUUID(), "value", 1, { expected, fence: "unfenced" });
    await expect(write).rejects.toMatchObject({ code: "EK_STATE_CONFLICT" });
  });

  test("of many writes at once that expect the same version one happens", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const expected = await one.records.put(object, "value", "start", unfenced);
    const writes = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? one : other).records.put(object, "value", index, { expected, fence: "unfenced" }),
    );
    const ended = await Promise.allSettled(writes);
    const won = ended.flatMap((end, index) => (end.status === "fulfilled" ? [{ index, version: end.value }] : []));
    expect(won).toHaveLength(1);
    expect(await one.records.get(object, "value")).toMatchObject({ value: won[0]?.index, version: won[0]?.version });
  });

  test("delete says whether there was a record", async () => {
    const { one, other } = given();
    const object = randomUUID();
    await one.records.put(object, "value", 1, unfenced);
    expect(await other.records.delete(object, "value", unfenced)).toBe(true);
    expect(await one.records.delete(object, "value", unfenced)).toBe(false);
    expect(await one.records.get(object, "value")).toBeUndefined();
  });

  test("a delete at another version conflicts and leaves the record", async () => {
    const { records } = given().one;
    const object = randomUUID();
    const first = await records.put(object, "value", 1, unfenced);
    await records.put(object, "value", 2, unfenced);
    const late = records.delete(object, "value", { expected: first, fence: "unfenced" });
    await expect(late).rejects.toMatchObject({ code: "EK_STATE_CONFLICT" });
    expect((await records.get(object, "value"))?.value).toBe(2);
  });

  test("a lower token is refused after a higher one, and nothing is written", async () => {
    const { one, other } = given();
    const object = randomUUID();
    await one.records.put(object, "value", "new leader", as(7n));
    const late = other.records.put(object, "value", "former leader", as(6n));
    await expect(late).rejects.toMatchObject({ code: "EK_STATE_FENCED", recovery: "terminal" });
    await expect(late).rejects.toThrow(/token 6 .* has seen 7/);
    expect((await one.records.get(object, "value"))?.value).toBe("new leader");
  });

  test("the same token writes again", async () => {
    const { records } = given().one;
    const object = randomUUID();
    await records.put(object, "value", 1, as(0n));
    await records.put(object, "value", 2, as(0n));
    expect((await records.get(object, "value"))?.value).toBe(2);
  });

  test("tokens are compared as numbers of any size", async () => {
    const { records } = given().one;
    const object = randomUUID();
    const high = 2n ** 64n;
    await records.put(object, "value", 1, as(9n));
    await records.put(object, "value", 2, as(10n));
    await records.put(object, "value", 3, as(high + 1n));
    await expect(records.put(object, "value", 4, as(high))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
  });

  test("a negative token is refused", async () => {
    const write = given().one.records.put(randomUUID(), "value", 1, as(-1n));
    await expect(write).rejects.toMatchObject({ code: "EK_STATE_BAD_ARGUMENT" });
  });

  test("a token fences the whole object, whichever record it came with", async () => {
    const { records } = given().one;
    const object = randomUUID();
    await records.put(object, "a", 1, as(2n));
    await expect(records.put(object, "b", 1, as(1n))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
    await expect(records.delete(object, "a", as(1n))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
  });

  test("scopes and objects have tokens of their own", async () => {
    const { records } = given().one;
    const object = randomUUID();
    await records.put(object, "value", 1, as(5n));
    await records.put(object, "value", 2, { expected: "any", fence: { scope: "shard-1", token: 1n } });
    await records.put(randomUUID(), "value", 3, as(1n));
    expect((await records.get(object, "value"))?.value).toBe(2);
  });

  test("raising a token refuses lower ones before anything is written", async () => {
    const { one, other } = given();
    const object = randomUUID();
    await one.records.raise(object, leader(3n));
    await expect(other.records.put(object, "value", 1, as(2n))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
    await expect(other.records.raise(object, leader(2n))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
    expect(await one.records.list(object)).toEqual([]);
  });

  test("a token counts as seen even if its write conflicts", async () => {
    const { records } = given().one;
    const object = randomUUID();
    await records.put(object, "value", 1, as(1n));
    const conflict = records.put(object, "value", 2, { expected: "absent", fence: leader(2n) });
    await expect(conflict).rejects.toMatchObject({ code: "EK_STATE_CONFLICT" });
    await expect(records.put(object, "value", 3, as(1n))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
  });

  test("a refused token leaves the higher one in force", async () => {
    const { records } = given().one;
    const object = randomUUID();
    await records.raise(object, leader(9n));
    for (const token of [1n, 8n]) {
      await expect(records.raise(object, leader(token))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
    }
    await records.raise(object, leader(9n));
  });

  test("a forgotten object has nothing left but its tokens", async () => {
    const { one, other } = given();
    const object = randomUUID();
    await one.records.put(object, "value", 1, as(4n));
    await one.counters.report(object, "replica", { held: 1 }, 60_000);
    await one.streams.append(object, "log", "entry", 10);
    await one.forget(object, leader(4n));
    expect(await other.records.list(object)).toEqual([]);
    expect(await other.counters.sum(object)).toEqual({});
    expect(await other.streams.newest(object, "log", 10)).toEqual([]);
    await expect(other.records.put(object, "value", 2, as(3n))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
  });

  test("a former leader cannot make the state forget", async () => {
    const { records, forget } = bound(given());
    const object = randomUUID();
    await records.put(object, "value", 1, as(4n));
    await expect(forget(object, leader(3n))).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
    expect((await records.get(object, "value"))?.value).toBe(1);
  });
}

function bound({ one }: Replicas) {
  return { records: one.records, forget: (object: string, fence: Fence) => one.forget(object, fence) };
}
