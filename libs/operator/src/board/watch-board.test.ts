import { expect, test } from "@jest/globals";
import type { ReadBoard } from "./object-board.ts";
import { watchBoard } from "./watch-board.ts";

/** A board of numbers that a test writes. */
class Numbers implements ReadBoard<number> {
  readonly #numbers = new Map<string, number>();
  readonly listeners = new Set<(key: string) => void>();

  set(key: string, value: number | undefined): void {
    if (value === undefined) this.#numbers.delete(key);
    else this.#numbers.set(key, value);
    for (const listener of this.listeners) listener(key);
  }

  keys(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  get(key: string): number | undefined {
    return this.#numbers.get(key);
  }

  subscribe(listener: (key: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

function watch(board: Numbers, selects: (key: string) => boolean = () => true) {
  const aborting = new AbortController();
  const event = (value: number) => ({ $case: "number", value }) as const;
  const events = watchBoard(board, { selects, event, signal: aborting.signal });
  const next = async () => {
    const result = await events.next();
    return result.done ? undefined : result.value.event;
  };
  return { aborting, events, next };
}

test("begins with what is there, then gives each change and each removal", async () => {
  const board = new Numbers();
  board.set("shop/a", 1);
  const { next } = watch(board);
  expect(await next()).toEqual({ $case: "number", value: 1 });
  const waiting = next();
  board.set("shop/a", 2);
  expect(await waiting).toEqual({ $case: "number", value: 2 });
  board.set("shop/a", undefined);
  expect(await next()).toEqual({ $case: "removed", value: { namespace: "shop", name: "a" } });
});

test("gives changes that come faster than they are read as one", async () => {
  const board = new Numbers();
  board.set("shop/a", 0);
  const { next } = watch(board);
  await next();
  for (let value = 1; value <= 100; value += 1) board.set("shop/a", value);
  expect(await next()).toEqual({ $case: "number", value: 100 });
  const waiting = next();
  board.set("shop/a", 101);
  expect(await waiting).toEqual({ $case: "number", value: 101 });
});

test("gives what was selected alone", async () => {
  const board = new Numbers();
  board.set("shop/a", 1);
  board.set("bank/a", 2);
  const { next } = watch(board, (key) => key.startsWith("bank/"));
  expect(await next()).toEqual({ $case: "number", value: 2 });
  const waiting = next();
  board.set("shop/a", 3);
  board.set("bank/b", 4);
  expect(await waiting).toEqual({ $case: "number", value: 4 });
});

test.each([1, 2])("ends with its signal also while the first of %d is being read", async (size) => {
  const board = new Numbers();
  for (let index = 0; index < size; index += 1) board.set(`shop/${index}`, index);
  const { aborting, events } = watch(board);
  await events.next();
  aborting.abort();
  expect(await events.next()).toEqual({ done: true, value: undefined });
  expect(board.listeners.size).toBe(0);
});

test("ends with its signal, and leaves no listener behind", async () => {
  const board = new Numbers();
  const { aborting, events } = watch(board);
  const waiting = events.next();
  expect(board.listeners.size).toBe(1);
  aborting.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(board.listeners.size).toBe(0);
});
