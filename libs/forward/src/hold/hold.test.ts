import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import fc from "fast-check";
import { TICK } from "../wheel.ts";
import { type Entry, Hold, type HoldOptions } from "./hold.ts";
import { HOLD_OUTCOMES, type Slot } from "./outcome.ts";

const ROOMY = { count: 1000, bytes: 1_000_000 };

/** A hold of strings that writes down what it is told, and keeps the slots of those it released. */
function newHold(options: Partial<HoldOptions<string, string>> = {}) {
  const clock = new FakeClock();
  const told: string[] = [];
  const slots = new Map<string, Slot<string>>();
  const hold = new Hold<string, string>({
    clock,
    perKey: ROOMY,
    overall: ROOMY,
    settle: (held, settlement) => {
      told.push(`${held} ${settlement.outcome}`);
      if (settlement.outcome === "released") slots.set(held, settlement.slot);
    },
    ...options,
  });
  const enter = (key: string, held: string, entry: Partial<Entry> = {}) =>
    hold.enter(key, held, { bytes: 10, wait: 10_000, ...entry });
  return { clock, hold, told, slots, enter };
}

describe("a key without an upstream", () => {
  test("keeps its requests, and counts them and their bytes", () => {
    const { hold, told, enter } = newHold();
    enter("a", "1", { bytes: 100 });
    enter("a", "2", { bytes: 50 });
    enter("b", "3", { bytes: 7 });
    expect(told).toEqual([]);
    expect(hold.waiting("a")).toEqual({ count: 2, bytes: 150 });
    expect(hold.waiting()).toEqual({ count: 3, bytes: 157 });
    expect(hold.waiting("c")).toEqual({ count: 0, bytes: 0 });
  });

  test.each([
    ["count of the key", "overflowCount", { perKey: { count: 2, bytes: 1000 } }, { a: 3, b: 1 }],
    ["bytes of the key", "overflowBytes", { perKey: { count: 100, bytes: 29 } }, { a: 3, b: 1 }],
    ["count of all keys", "overflowCount", { overall: { count: 3, bytes: 1000 } }, { a: 3, b: 1 }],
    ["bytes of all keys", "overflowBytes", { overall: { count: 100, bytes: 39 } }, { a: 3, b: 1 }],
  ])("refuses what exceeds the %s at once", (_name, outcome, limits, arrivals) => {
    const { hold, told, enter } = newHold(limits);
    const places = [];
    for (const [key, count] of Object.entries(arrivals)) {
      for (let index = 1; index <= count; index++) places.push(enter(key, `${key}${index}`));
    }
    expect(told).toEqual([`${"perKey" in limits ? "a3" : "b1"} ${outcome}`]);
    expect(hold.waiting().count).toBe(3);
    expect(places.filter((place) => place === undefined)).toHaveLength(1);
  });

  test("has room again for each that leaves, however many bursts come", () => {
    const { hold, told, enter } = newHold({ perKey: { count: 3, bytes: 30 } });
    for (let burst = 0; burst < 50; burst++) {
      const places = [1, 2, 3].map((index) => enter("a", String(index)));
      expect(enter("a", "4")).toBeUndefined();
      for (const place of places) if (place) hold.leave(place);
      expect(hold.waiting()).toEqual({ count: 0, bytes: 0 });
    }
    expect(told.filter((line) => line === "4 overflowCount")).toHaveLength(50);
    expect(told.filter((line) => line.endsWith("clientGone"))).toHaveLength(150);
  });
});

describe("a room that depends on the key", () => {
  test("is asked for when a request has to wait, and only then", () => {
    const asked: string[] = [];
    const perKey = (key: string) => {
      asked.push(key);
      return { count: key === "a" ? 1 : 2, bytes: 1000 };
    };
    const { hold, told, enter } = newHold({ perKey });
    for (const held of ["a1", "a2", "b1", "b2", "b3"]) enter(held.slice(0, 1), held);
    expect(told).toEqual(["a2 overflowCount", "b3 overflowCount"]);
    hold.offer("c", "pod", 1);
    enter("c", "c1");
    expect(asked).toEqual(["a", "a", "b", "b", "b"]);
  });
});

describe("a request that was released in vain", () => {
  test("returns to its queue position, room or not, with the rest of its wait", async () => {
    const { clock, hold, told, slots, enter } = newHold({ perKey: { count: 3, bytes: 1000 } });
    const began = clock.monotonic();
    enter("a", "1");
    await clock.advance(100);
    for (const held of ["2", "3"]) enter("a", held);
    hold.offer("a", "refusing", 1);
    hold.withdraw("a", "refusing");
    enter("a", "4");
    enter("a", "1 again", { since: began, wait: 1000 });
    slots.get("1")?.done();
    expect(hold.waiting("a").count).toBe(4);
    expect(told).toEqual(["1 released"]);
    await clock.advance(890);
    hold.offer("a", "pod", 1);
    expect(told.slice(1)).toEqual(["1 again released"]);
    for (const held of ["1 again", "2", "3", "4"]) slots.get(held)?.done();
    expect(told.slice(2)).toEqual(["2 released", "3 released", "4 released"]);
  });

  test("is queued behind those that have waited longer, and before the others", async () => {
    const { clock, hold, told, enter } = newHold();
    for (const held of ["1", "2", "4", "5"]) {
      enter("a", held);
      await clock.advance(10);
    }
    enter("a", "3", { since: 15 });
    enter("a", "6", { since: 1000 });
    enter("a", "0", { since: -5 });
    hold.offer("a", "pod", 10);
    expect(told).toEqual(["0", "1", "2", "3", "4", "5", "6"].map((held) => `${held} released`));
  });

  test("gets no more time than it had", async () => {
    const { clock, told, enter } = newHold();
    await clock.advance(1000);
    enter("a", "late", { since: 0, wait: 500 });
    await clock.advance(3 * TICK);
    expect(told).toEqual(["late deadline"]);
  });
});

describe("a release", () => {
  test("follows the order of arrival, never more at once than the cap, the next as a slot is free again", () => {
    const { hold, told, slots, enter } = newHold();
    for (const held of ["1", "2", "3", "4", "5"]) enter("a", held);
    hold.offer("a", "pod", 2);
    expect(told).toEqual(["1 released", "2 released"]);
    slots.get("2")?.done();
    expect(told.slice(2)).toEqual(["3 released"]);
    slots.get("1")?.done();
    slots.get("3")?.done();
    expect(told.slice(3)).toEqual(["4 released", "5 released"]);
    expect(hold.waiting("a").count).toBe(0);
  });

  test("keeps the order of arrival: a request that enters while others wait is queued behind them", () => {
    const { hold, told, slots, enter } = newHold();
    enter("a", "1");
    enter("a", "2");
    hold.offer("a", "pod", 1);
    enter("a", "3");
    slots.get("1")?.done();
    slots.get("2")?.done();
    expect(told).toEqual(["1 released", "2 released", "3 released"]);
  });

  test("releases a request at once while a slot is free and none waits", () => {
    const { hold, told, enter } = newHold();
    hold.offer("a", "pod", 2);
    expect(enter("a", "1")).toBeUndefined();
    expect(enter("a", "2")).toBeUndefined();
    expect(enter("a", "3")).toBeDefined();
    expect(told).toEqual(["1 released", "2 released"]);
  });

  test("tells how long each waited", async () => {
    const waits: number[] = [];
    const { clock, hold, enter } = newHold({ settle: (_held, { waited }) => waits.push(waited) });
    enter("a", "1");
    await clock.advance(120);
    enter("a", "2");
    await clock.advance(30);
    hold.offer("a", "pod", 10);
    expect(waits).toEqual([150, 30]);
  });

  test("uses the upstream with the lowest use of its cap", () => {
    const { hold, slots, enter } = newHold();
    hold.offer("a", "small", 1);
    hold.offer("a", "large", 3);
    const upstreams = ["1", "2", "3", "4"].map((held) => (enter("a", held), slots.get(held)?.upstream));
    expect(upstreams).toEqual(["small", "large", "large", "large"]);
    slots.get("1")?.done();
    enter("a", "5");
    expect(slots.get("5")?.upstream).toBe("small");
  });

  test("counts a slot once, though it is released twice", () => {
    const { hold, told, slots, enter } = newHold();
    hold.offer("a", "pod", 1);
    for (const held of ["1", "2", "3"]) enter("a", held);
    slots.get("1")?.done();
    slots.get("1")?.done();
    expect(told).toEqual(["1 released", "2 released"]);
  });

  test("holds again when its upstream is withdrawn, and counts what that still has when it comes back", () => {
    const { hold, told, slots, enter } = newHold();
    hold.offer("a", "pod", 2);
    enter("a", "1");
    enter("a", "2");
    hold.withdraw("a", "pod");
    slots.get("1")?.done();
    enter("a", "3");
    enter("a", "4");
    expect(told).toEqual(["1 released", "2 released"]);
    hold.offer("a", "pod", 2);
    expect(told.slice(2)).toEqual(["3 released"]);
    slots.get("2")?.done();
    expect(told.slice(3)).toEqual(["4 released"]);
  });

  test("allows more when a cap is raised, and nothing until the surplus is done when it is lowered", () => {
    const { hold, told, slots, enter } = newHold();
    for (let index = 1; index <= 5; index++) enter("a", String(index));
    hold.offer("a", "pod", 1);
    hold.offer("a", "pod", 3);
    expect(told).toHaveLength(3);
    hold.offer("a", "pod", 1);
    slots.get("1")?.done();
    slots.get("2")?.done();
    expect(told).toHaveLength(3);
    slots.get("3")?.done();
    expect(told.at(-1)).toBe("4 released");
  });

  test("goes through ten thousand that are done at once without a deep stack", () => {
    let released = 0;
    const { hold, enter } = newHold({
      perKey: { count: 10_000, bytes: 1e9 },
      overall: { count: 10_000, bytes: 1e9 },
      settle: (_held, settlement) => {
        if (settlement.outcome !== "released") return;
        released += 1;
        settlement.slot.done();
      },
    });
    for (let index = 0; index < 10_000; index++) enter("a", String(index));
    hold.offer("a", "pod", 1);
    expect(released).toBe(10_000);
  });

  test("keeps what another key's upstream takes apart", () => {
    const { hold, told, enter } = newHold();
    enter("a", "1");
    enter("b", "2");
    hold.offer("b", "pod", 5);
    expect(told).toEqual(["2 released"]);
    expect(hold.waiting("a").count).toBe(1);
  });
});

describe("a deadline", () => {
  test("ends each wait at its own time, never before it and at most two ticks after", async () => {
    const ends: [string, string, number][] = [];
    const { clock, enter } = newHold({
      settle: (held, { outcome, waited }) => ends.push([held, outcome, waited]),
    });
    const waits = [0, 49, 151, 300, 999, 25_601, 100_000];
    for (const wait of waits) enter("a", String(wait), { wait });
    await clock.advance(200_000);
    expect(ends.map(([held]) => Number(held))).toEqual(waits);
    for (const [held, outcome, waited] of ends) {
      expect(outcome).toBe("deadline");
      expect(waited).toBeGreaterThanOrEqual(Number(held));
      expect(waited).toBeLessThanOrEqual(Number(held) + 2 * TICK);
    }
  });

  test("keeps the order of the requests behind one that it ended", async () => {
    const { clock, hold, told, enter } = newHold();
    enter("a", "1", { wait: 5000 });
    enter("a", "2", { wait: 100 });
    enter("a", "3", { wait: 5000 });
    await clock.advance(1000);
    hold.offer("a", "pod", 5);
    expect(told).toEqual(["2 deadline", "1 released", "3 released"]);
  });

  test("is one timer for any number of waits, and none without", async () => {
    const { clock, hold, enter } = newHold();
    const places = Array.from({ length: 500 }, (_, index) =>
      enter(`key-${index % 7}`, String(index), { wait: 1000 + index }),
    );
    expect(clock.pending).toBe(1);
    for (const place of places) if (place) hold.leave(place);
    await clock.advance(TICK);
    expect(clock.pending).toBe(0);
    enter("a", "1", { wait: 100 });
    await clock.advance(200);
    expect(clock.pending).toBe(0);
  });

  test("never comes to a wait without end, which needs no timer", async () => {
    const { clock, hold, told, enter } = newHold();
    const place = enter("a", "1", { wait: Infinity });
    expect(clock.pending).toBe(0);
    await clock.advance(1e9);
    expect(told).toEqual([]);
    if (place) hold.leave(place);
    expect(told).toEqual(["1 clientGone"]);
  });
});

describe("the end of a wait", () => {
  test("is told once: a client that leaves after its release, deadline or drain changes nothing", async () => {
    const { clock, hold, told, enter } = newHold();
    const places = [enter("a", "released"), enter("b", "late", { wait: 100 }), enter("c", "drained")];
    hold.offer("a", "pod", 1);
    await clock.advance(500);
    hold.drain("c");
    const before = [...told];
    for (const place of places) if (place) hold.leave(place);
    expect(told).toEqual(before);
    expect(told).toEqual(["released released", "late deadline", "drained drained"]);
  });

  test("removes a client that left from the middle of the queue, and it is never released", () => {
    const { hold, told, enter } = newHold();
    const places = ["1", "2", "3"].map((held) => enter("a", held));
    if (places[1]) hold.leave(places[1]);
    hold.offer("a", "pod", 10);
    expect(told).toEqual(["2 clientGone", "1 released", "3 released"]);
  });

  test("drains one key or all, and leaves no timer", async () => {
    const { clock, hold, told, enter } = newHold();
    for (const key of ["a", "b", "c"]) for (const index of [1, 2]) enter(key, `${key}${index}`);
    hold.drain("b");
    expect(told).toEqual(["b1 drained", "b2 drained"]);
    hold.drain();
    expect(told.slice(2)).toEqual(["a1 drained", "a2 drained", "c1 drained", "c2 drained"]);
    expect(hold.waiting()).toEqual({ count: 0, bytes: 0 });
    await clock.advance(TICK);
    expect(clock.pending).toBe(0);
  });

  test("lets a drain end though each that is sent away comes again at once", () => {
    let again = 3;
    const { hold, enter } = newHold({
      settle: (held, { outcome }) => {
        if (outcome === "drained" && again-- > 0) enter("a", held);
      },
    });
    for (const held of ["1", "2", "3"]) enter("a", held);
    hold.drain("a");
    expect(hold.waiting("a").count).toBe(3);
  });
});

test("whatever happens, every request ends once, in order within its key, and no bound or cap is exceeded", async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("enter" as const), key: fc.nat(2), bytes: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), which: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("done" as const), which: fc.nat() }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant("offer" as const), key: fc.nat(2), cap: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("withdraw" as const), key: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("drain" as const), key: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("advance" as const), by: fc.nat(400) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const clock = new FakeClock();
      const ended = new Map<number, string>();
      const open: { key: string; slot: Slot<string> }[] = [];
      const released = new Map<string, number[]>();
      const hold = new Hold<{ id: number; key: string }, string>({
        clock,
        perKey: { count: 4, bytes: 50 },
        overall: { count: 8, bytes: 90 },
        settle: ({ id, key }, settlement) => {
          expect(ended.has(id)).toBe(false);
          expect(HOLD_OUTCOMES).toContain(settlement.outcome);
          ended.set(id, settlement.outcome);
          if (settlement.outcome !== "released") return;
          open.push({ key, slot: settlement.slot });
          expect(open.filter((other) => other.key === key).length).toBeLessThanOrEqual(3);
          released.set(key, [...(released.get(key) ?? []), id]);
        },
      });
      const places: NonNullable<ReturnType<typeof hold.enter>>[] = [];
      let entered = 0;
      for (const act of steps) {
        const key = "key" in act ? `key-${act.key}` : "";
        if (act.do === "enter") {
          const place = hold.enter(key, { id: entered++, key }, { bytes: act.bytes, wait: 300 });
          if (place) places.push(place);
        } else if (act.do === "leave") {
          const place = places[act.which % Math.max(1, places.length)];
          if (place) hold.leave(place);
        } else if (act.do === "done") {
          open.splice(act.which % Math.max(1, open.length), 1)[0]?.slot.done();
        } else if (act.do === "offer") hold.offer(key, "pod", act.cap);
        else if (act.do === "withdraw") hold.withdraw(key, "pod");
        else if (act.do === "drain") hold.drain(key);
        else await clock.advance(act.by);
        const all = ["key-0", "key-1", "key-2"].map((name) => hold.waiting(name));
        expect(all.every(({ count, bytes }) => count <= 4 && bytes <= 50)).toBe(true);
        expect(hold.waiting().count).toBe(all.reduce((sum, { count }) => sum + count, 0));
        expect(hold.waiting().count).toBe(entered - ended.size);
        expect(hold.waiting().bytes).toBeLessThanOrEqual(90);
      }
      await clock.advance(1000);
      expect(ended.size).toBe(entered);
      expect(clock.pending).toBe(0);
      for (const ids of released.values()) expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    }),
    { numRuns: 300 },
  );
});
