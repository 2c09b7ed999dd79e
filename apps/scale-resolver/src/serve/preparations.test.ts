import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { Preparations } from "./preparations.ts";

function setUp(most?: number) {
  const clock = new FakeClock();
  const told: string[] = [];
  const changed = (key: string) => told.push(key);
  return { clock, told, preparations: new Preparations({ clock, changed, ...(most !== undefined && { most }) }) };
}

const drain = (uid: string, ...services: string[]) => ({ uid, eviction: "drain-1", services });

test("a preparation holds until it is released", () => {
  const { preparations, told, clock } = setUp();
  preparations.keep(drain("a", "shop/checkout"), 5000);
  expect(preparations.isPrepared("shop", "checkout")).toBe(true);
  expect(preparations.isPrepared("shop", "search")).toBe(false);
  expect(preparations.isPodPrepared("a")).toBe(true);
  preparations.release("a", "another");
  expect(preparations.isPrepared("shop", "checkout")).toBe(true);
  preparations.release("a", "drain-1");
  expect(preparations.isPrepared("shop", "checkout")).toBe(false);
  expect(told).toEqual(["shop/checkout", "shop/checkout"]);
  expect(clock.pending).toBe(0);
});

test("a preparation that is not released ends by itself, counted from the last request", async () => {
  const { preparations, told, clock } = setUp();
  preparations.keep(drain("a", "shop/checkout"), 5000);
  await clock.advance(4000);
  preparations.keep(drain("a", "shop/checkout"), 5000);
  await clock.advance(4000);
  expect(preparations.isPrepared("shop", "checkout")).toBe(true);
  await clock.advance(1000);
  expect(preparations.isPrepared("shop", "checkout")).toBe(false);
  expect(told).toEqual(["shop/checkout", "shop/checkout"]);
});

test("a preparation ends with the term", () => {
  const { preparations, clock } = setUp();
  preparations.keep(drain("a", "shop/checkout"), 5000);
  preparations.forgetAll();
  expect([preparations.isPrepared("shop", "checkout"), preparations.size, clock.pending]).toEqual([false, 0, 0]);
});

test("a pod that is no longer the last one releases its Service and stays prepared", () => {
  const { preparations, told } = setUp();
  preparations.keep(drain("a", "shop/checkout"), 5000);
  preparations.keep(drain("a"), 5000);
  expect(preparations.isPrepared("shop", "checkout")).toBe(false);
  expect(preparations.isPodPrepared("a")).toBe(true);
  expect(told).toEqual(["shop/checkout", "shop/checkout"]);
});

test("the number is limited, and a known one can be renewed", async () => {
  const { preparations, clock } = setUp(2);
  preparations.keep(drain("a"), 1000);
  preparations.keep(drain("b"), 9000);
  expect(() => preparations.keep(drain("c"), 1000)).toThrow(expect.objectContaining({ code: "EK_RPC_TOO_BUSY" }));
  preparations.keep(drain("b"), 9000);
  await clock.advance(1000);
  preparations.keep(drain("c"), 1000);
  expect(preparations.size).toBe(2);
  preparations.stop();
  expect(preparations.size).toBe(0);
  expect(clock.pending).toBe(0);
});
