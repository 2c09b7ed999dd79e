import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Replicas } from "./state.contract.ts";
import type { Lock } from "./state.ts";

const LONG = 60_000;
const SHORT = 50;

export function locksContract(given: () => Replicas): void {
  test("a lock has one holder", async () => {
    const { one, other } = given();
    const object = randomUUID();
    expect(await one.locks.acquire(object, "plan", LONG)).toMatchObject({ object, name: "plan" });
    expect(await other.locks.acquire(object, "plan", LONG)).toBeUndefined();
    expect(await one.locks.acquire(object, "plan", LONG)).toBeUndefined();
  });

  test("of many who try at once one gets it", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const tries = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? one : other).locks.acquire(object, "plan", LONG),
    );
    expect((await Promise.all(tries)).filter((lock) => lock !== undefined)).toHaveLength(1);
  });

  test("a released lock can be had at once", async () => {
    const { one, other } = given();
    const object = randomUUID();
    const lock = await acquired(one.locks.acquire(object, "plan", LONG));
    expect(await one.locks.release(lock)).toBe(true);
    expect(await other.locks.acquire(object, "plan", LONG)).toBeDefined();
  });

  test("the lock of a holder that fell silent can be had after its time", async () => {
    const { one, other, elapse } = given();
    const object = randomUUID();
    await one.locks.acquire(object, "plan", SHORT);
    await elapse(SHORT);
    expect(await other.locks.acquire(object, "plan", LONG)).toBeDefined();
  });

  test("a holder that renews keeps it beyond its first time", async () => {
    const { one, other, elapse } = given();
    const object = randomUUID();
    const lock = await acquired(one.locks.acquire(object, "plan", 2000));
    expect(await one.locks.renew(lock, LONG)).toBe(true);
    await elapse(2000);
    expect(await other.locks.acquire(object, "plan", LONG)).toBeUndefined();
  });

  test("a former holder can neither renew nor release another's lock", async () => {
    const { one, other, elapse } = given();
    const object = randomUUID();
    const former = await acquired(one.locks.acquire(object, "plan", SHORT));
    await elapse(SHORT);
    const lock = await acquired(other.locks.acquire(object, "plan", LONG));
    expect(await one.locks.renew(former, LONG)).toBe(false);
    expect(await one.locks.release(former)).toBe(false);
    expect(await other.locks.release(lock)).toBe(true);
  });

  test("a lock whose time is over cannot be renewed, so that its holder learns of it", async () => {
    const { one, elapse } = given();
    const lock = await acquired(one.locks.acquire(randomUUID(), "plan", SHORT));
    await elapse(SHORT);
    expect(await one.locks.renew(lock, LONG)).toBe(false);
  });

  test("locks of other names and objects are others", async () => {
    const { one } = given();
    const object = randomUUID();
    const all = [
      await one.locks.acquire(object, "plan", LONG),
      await one.locks.acquire(object, "act", LONG),
      await one.locks.acquire(randomUUID(), "plan", LONG),
    ];
    expect(new Set(all.map((lock) => lock?.token)).size).toBe(3);
  });
}

async function acquired(lock: Promise<Lock | undefined>): Promise<Lock> {
  const held = await lock;
  if (!held) throw new Error("the lock is held by another");
  return held;
}
