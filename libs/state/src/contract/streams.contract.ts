import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Replicas } from "./replicas.ts";
import type { Entry, Gap } from "../state.ts";

const texts = (entries: readonly Entry[]) => entries.map(({ text }) => text);

export function streamsContract(given: () => Replicas): void {
  test("a stream that was never written is empty", async () => {
    const { streams } = given().one;
    const object = randomUUID();
    expect(await streams.read(object, "log", "start", 10)).toEqual({ entries: [], gap: false });
    expect(await streams.newest(object, "log", 10)).toEqual([]);
  });

  test("entries are read in the order of their appends, with their ids", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const ids = [];
    for (const text of ["a", "b", "c"]) ids.push(await one.streams.append(object, "log", text, 10));
    expect(await other.streams.read(object, "log", "start", 10)).toEqual({
      gap: false,
      entries: [
        { id: ids[0], text: "a" },
        { id: ids[1], text: "b" },
        { id: ids[2], text: "c" },
      ],
    });
    expect(new Set(ids).size).toBe(3);
  });

  test("reading goes on after an entry", async () => {
    const { streams } = given().one;
    const object = randomUUID();
    const first = await streams.append(object, "log", "a", 10);
    await streams.append(object, "log", "b", 10);
    const last = await streams.append(object, "log", "c", 10);
    const page = await streams.read(object, "log", first, 1);
    expect(page.gap).toBe(false);
    expect(texts(page.entries)).toEqual(["b"]);
    expect(await streams.read(object, "log", last, 10)).toEqual({ entries: [], gap: false });
  });

  test("the newest come first", async () => {
    const { streams } = given().one;
    const object = randomUUID();
    for (const text of ["a", "b", "c"]) await streams.append(object, "log", text, 10);
    expect(texts(await streams.newest(object, "log", 2))).toEqual(["c", "b"]);
  });

  test("a stream keeps its limit of entries exactly", async () => {
    const { streams } = given().one;
    const object = randomUUID();
    for (let index = 1; index <= 25; index++) await streams.append(object, "log", String(index), 10);
    const { entries } = await streams.read(object, "log", "start", 100);
    expect(texts(entries)).toEqual(["16", "17", "18", "19", "20", "21", "22", "23", "24", "25"]);
  });

  test("reading after an entry that was dropped says so and starts at the oldest", async () => {
    const { streams } = given().one;
    const object = randomUUID();
    const dropped = await streams.append(object, "log", "a", 2);
    for (const text of ["b", "c", "d"]) await streams.append(object, "log", text, 2);
    const page = await streams.read(object, "log", dropped, 10);
    expect(page.gap).toBe(true);
    expect(texts(page.entries)).toEqual(["c", "d"]);
  });

  test("an id that is not the stream's counts as dropped", async () => {
    const { streams } = given().one;
    const object = randomUUID();
    await streams.append(object, "log", "a", 2);
    const page = await streams.read(object, "log", "e-not an id", 10);
    expect(page.gap).toBe(true);
    expect(texts(page.entries)).toEqual(["a"]);
  });

  test("streams of one object, and of two, do not mix", async () => {
    const { streams } = given().one;
    const [object, another] = [randomUUID(), randomUUID()];
    await streams.append(object, "log", "a", 1);
    await streams.append(object, "audit", "b", 1);
    await streams.append(another, "log", "c", 1);
    expect(texts(await streams.newest(object, "log", 10))).toEqual(["a"]);
    expect(texts(await streams.newest(object, "audit", 10))).toEqual(["b"]);
    expect(texts(await streams.newest(another, "log", 10))).toEqual(["c"]);
  });

  test.each([0, -1, 1.5])("%p is no limit", async (limit) => {
    const { streams } = given().one;
    const refusal = { code: "EK_STATE_BAD_ARGUMENT" };
    await expect(streams.append(randomUUID(), "log", "a", limit)).rejects.toMatchObject(refusal);
    await expect(streams.read(randomUUID(), "log", "start", limit)).rejects.toMatchObject(refusal);
  });

  test("a tail gives what is there and then what another replica appends", async () => {
    const { one, other } = given();
    const object = randomUUID();
    await other.streams.append(object, "log", "before", 10);
    const tail = follow(one.streams.tail(object, "log", "start", AbortSignal.timeout(10_000)));
    expect(await tail.next()).toBe("before");
    await other.streams.append(object, "log", "after", 10);
    expect(await tail.next()).toBe("after");
    await tail.end();
  });

  test("a tail from the end gives only what is appended after the call", async () => {
    const { one } = given();
    const object = randomUUID();
    await one.streams.append(object, "log", "before", 10);
    const tail = follow(one.streams.tail(object, "log", "end", AbortSignal.timeout(10_000)));
    await one.streams.append(object, "log", "after", 10);
    expect(await tail.next()).toBe("after");
    await tail.end();
  });

  test("a tail reads on through more entries than one page", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const tail = follow(one.streams.tail(object, "log", "start", AbortSignal.timeout(20_000)));
    const expected = Array.from({ length: 250 }, (_, index) => String(index));
    const appending = (async () => {
      for (const text of expected) await other.streams.append(object, "log", text, 1000);
    })();
    const seen = [];
    for (let count = 0; count < expected.length; count++) seen.push(await tail.next());
    await appending;
    expect(seen).toEqual(expected);
    await tail.end();
  });

  test("a tail that falls behind the limit is told of the gap, once", async () => {
    const { one } = given();
    const object = randomUUID();
    const tail = follow(one.streams.tail(object, "log", "start", AbortSignal.timeout(10_000)));
    await one.streams.append(object, "log", "a", 2);
    expect(await tail.next()).toBe("a");
    for (const text of ["b", "c", "d"]) await one.streams.append(object, "log", text, 2);
    // "b" may have been read before it was dropped; the order of what comes is fixed either way.
    const rest = [await tail.next()];
    while (rest.at(-1) !== "d") rest.push(await tail.next());
    expect([
      ["gap", "c", "d"],
      ["b", "gap", "c", "d"],
      ["b", "c", "d"],
    ]).toContainEqual(rest);
    await tail.end();
  });

  test("a tail ends when its signal aborts", async () => {
    const ending = new AbortController();
    const tail = follow(given().one.streams.tail(randomUUID(), "log", "start", ending.signal));
    const next = tail.next();
    ending.abort();
    expect(await next).toBe("ended");
  });

  test("a tail with an aborted signal ends at once", async () => {
    const tail = follow(given().one.streams.tail(randomUUID(), "log", "start", AbortSignal.abort()));
    expect(await tail.next()).toBe("ended");
  });
}

/** Reads a tail item by item, as words. */
function follow(tail: AsyncIterable<Entry | Gap>) {
  const iterator = tail[Symbol.asyncIterator]();
  return {
    next: async (): Promise<string> => {
      const item = await iterator.next();
      if (item.done) return "ended";
      return "gap" in item.value ? "gap" : item.value.text;
    },
    end: () => iterator.return?.(),
  };
}
