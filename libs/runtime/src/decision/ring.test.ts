import { getEventListeners } from "node:events";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Decision } from "./decision.ts";
import { DecisionRing } from "./ring.ts";

const decision = (id: string, name = "a", reason = "NoData"): Decision => ({
  id,
  at: "2026-01-01T00:00:00Z",
  object: { kind: "Rebalance", namespace: "shop", name },
  action: "hold",
  reason,
  before: 1,
  after: 1,
  message: `decision ${id}`,
  dryRun: false,
});

const ids = (decisions: readonly Decision[]) => decisions.map(({ id }) => id);

describe("the list", () => {
  test("has the newest first, at most as many as asked for", async () => {
    const ring = new DecisionRing();
    for (const id of ["1", "2", "3"]) ring.record(decision(id));
    expect(ids(await ring.list({}, 2))).toEqual(["3", "2"]);
    expect(ids(await ring.list({}, 10))).toEqual(["3", "2", "1"]);
    expect(ids(await ring.list({}, 0))).toEqual([]);
  });

  test("looks past what the filter does not want", async () => {
    const ring = new DecisionRing();
    ring.record(decision("1", "a"));
    ring.record(decision("2", "b"));
    ring.record(decision("3", "a", "Paused"));
    ring.record(decision("4", "b"));
    expect(ids(await ring.list({ object: "Rebalance/shop/a" }, 1))).toEqual(["3"]);
    expect(ids(await ring.list({ object: "Rebalance/shop/a" }, 9))).toEqual(["3", "1"]);
    expect(ids(await ring.list({ reason: "Paused", action: "hold" }, 9))).toEqual(["3"]);
    expect(ids(await ring.list({ action: "raise" }, 9))).toEqual([]);
  });

  test("is the last decisions of any sequence, up to the ring's capacity", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.nat(60), async (capacity, count) => {
        const ring = new DecisionRing(capacity);
        const made = Array.from({ length: count }, (_, index) => decision(String(index)));
        for (const each of made) ring.record(each);
        expect(await ring.list({}, 1000)).toEqual(made.slice(-capacity).reverse());
      }),
    );
  });
});

describe("a watch", () => {
  const forever = new AbortController().signal;

  test("sees what happens between the call and the first read, and nothing from before", async () => {
    const ring = new DecisionRing();
    ring.record(decision("before"));
    const watch = ring.watch({}, forever)[Symbol.asyncIterator]();
    ring.record(decision("1"));
    ring.record(decision("2"));
    expect((await watch.next()).value).toMatchObject({ id: "1" });
    const third = [watch.next(), watch.next()];
    ring.record(decision("3"));
    expect((await third[0])?.value).toMatchObject({ id: "2" });
    expect((await third[1])?.value).toMatchObject({ id: "3" });
  });

  test("sees only what its filter wants", async () => {
    const ring = new DecisionRing();
    const watch = ring.watch({ object: "Rebalance/shop/b" }, forever)[Symbol.asyncIterator]();
    const next = watch.next();
    ring.record(decision("1", "a"));
    ring.record(decision("2", "b"));
    expect((await next).value).toMatchObject({ id: "2" });
  });

  test("does not take from another", async () => {
    const ring = new DecisionRing();
    const watches = [ring.watch({}, forever), ring.watch({}, forever)].map((watch) => watch[Symbol.asyncIterator]());
    ring.record(decision("1"));
    for (const watch of watches) expect((await watch.next()).value).toMatchObject({ id: "1" });
  });

  test("ends when its signal aborts, also while it waits", async () => {
    const ring = new DecisionRing();
    const controller = new AbortController();
    const watch = ring.watch({}, controller.signal)[Symbol.asyncIterator]();
    const waiting = watch.next();
    controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  test("ends at once when its signal has aborted already", async () => {
    const ring = new DecisionRing();
    const watch = ring.watch({}, AbortSignal.abort())[Symbol.asyncIterator]();
    ring.record(decision("1"));
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });

  test("is ended with a code when it falls too far behind, and the others go on", async () => {
    const ring = new DecisionRing(3);
    const slow = ring.watch({}, forever)[Symbol.asyncIterator]();
    const other = ring.watch({ object: "Rebalance/shop/b" }, forever)[Symbol.asyncIterator]();
    for (let index = 0; index < 4; index++) ring.record(decision(String(index)));
    ring.record(decision("b", "b"));
    await expect(slow.next()).rejects.toMatchObject({ code: "EK_RUNTIME_WATCHER_TOO_SLOW", recovery: "retryable" });
    expect(await slow.next()).toEqual({ done: true, value: undefined });
    expect((await other.next()).value).toMatchObject({ id: "b" });
  });

  test("may be exactly as far behind as the ring is long", async () => {
    const ring = new DecisionRing(3);
    const watch = ring.watch({}, forever)[Symbol.asyncIterator]();
    for (let index = 0; index < 3; index++) ring.record(decision(String(index)));
    expect((await watch.next()).value).toMatchObject({ id: "0" });
  });

  test("that its reader leaves is forgotten, and leaves no listener", async () => {
    const ring = new DecisionRing();
    const { signal } = new AbortController();
    const watch = ring.watch({}, signal);
    ring.record(decision("1"));
    for await (const each of watch) {
      expect(each.id).toBe("1");
      break;
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("that was never read leaves no listener once it has ended", () => {
    const ring = new DecisionRing(1);
    const controller = new AbortController();
    ring.watch({}, controller.signal);
    const overrun = new AbortController();
    ring.watch({}, overrun.signal);
    controller.abort();
    ring.record(decision("1"));
    ring.record(decision("2"));
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    expect(getEventListeners(overrun.signal, "abort")).toHaveLength(0);
  });
});
